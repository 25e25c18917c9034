import { commitContext } from '../base/commit-context.ts';
import { newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { Basis } from '../base/ports.ts';
import type { Services } from './services.ts';
import { type WorkflowSpec, workflowDraft } from './workflow-record.ts';

/** Opens a workflow that waits for the approvers of a workspace. @returns its id */
export async function openWorkflow(
  context: CallContext<Pick<Services, 'store'>>,
  workspace: string,
  spec: WorkflowSpec,
  reason: string,
  basis?: Basis,
): Promise<string> {
  const id = newId('wf');
  const record = workflowDraft(id, spec, { state: 'pending' });
  const commit = commitContext(context, `submit: ${reason}`, basis && { basis });
  await context.services.store.commit(workspace, [{ op: 'create', record }], commit);
  return id;
}
