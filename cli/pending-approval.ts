import { notice } from './answer.ts';

/** The workflow in which a call waits for a person; undefined for any other answer. */
export function pendingWorkflowOf(answer: unknown): string | undefined {
  const { status, workflow_id: id } = (answer ?? {}) as { status?: unknown; workflow_id?: unknown };
  return status === 'pending_approval' && typeof id === 'string' ? id : undefined;
}

/** Says on standard error who lets a held call go on, so that JSON stays alone on standard output. */
export function noticePending(answer: unknown): void {
  const id = pendingWorkflowOf(answer);
  if (id === undefined) return;
  const { another_person: isAnother, workflows = [{ workflow_id: id }] } = answer as PendingAnswer;
  if (isAnother) {
    const named = workflows.map(({ workflow_id: one, workspace }) => `${one}${workspace ? ` in ${workspace}` : ''}`);
    notice(`Another person has to approve ${named.join(', and ')}.`);
    return;
  }
  for (const { workflow_id: one, workspace } of workflows) {
    notice(`Waits for approval: mesh approve ${one}${workspace ? ` --workspace ${workspace}` : ''}`);
  }
}

interface PendingAnswer {
  readonly another_person?: boolean;
  /** Where it is not the workspace of the call alone whose people decide. */
  readonly workflows?: readonly { readonly workflow_id: string; readonly workspace?: string }[];
}
