import { notice } from './answer.ts';

/** The workflow in which a call waits for a person; undefined for any other answer. */
export function waitingIn(answer: unknown): string | undefined {
  const { status, workflow_id: id } = (answer ?? {}) as { status?: unknown; workflow_id?: unknown };
  return status === 'pending_approval' && typeof id === 'string' ? id : undefined;
}

/** Says on standard error who lets a held call go on, so that JSON stays alone on standard output. */
export function tellWaiting(answer: unknown): void {
  const id = waitingIn(answer);
  if (id === undefined) return;
  const { another_person: isAnother } = answer as { another_person?: unknown };
  notice(isAnother ? `Another person has to approve ${id}.` : `Waits for approval: mesh approve ${id}`);
}
