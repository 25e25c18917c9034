import { MeshError } from '../base/errors.ts';
import type { AnyOperation, CallContext } from '../base/operation.ts';
import { foldName } from '../base/record.ts';
import type { WorkflowRecord } from '../model/workflow-records.ts';
import { slugOf } from '../model/workspaces.ts';
import type { Services } from './services.ts';
import { isOpen } from './workflows.ts';

/** A call that is about to wait for a person. */
interface CallIdentity {
  readonly operation: Pick<AnyOperation<Services>, 'name' | 'title' | 'ends'>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly digest: string;
}

/**
 * Refuses a second call that ends the same as one which waits: once that is approved, this one would find nothing. A device
 * has one call at a time that waits, so that it cannot fill the approvers' list.
 *
 * @param all workflows of a workspace whose people decide
 * @throws MeshError `conflict` that names the workflow, and says what to do; `rate_limited` for a device
 */
export async function requireNoDuplicate(
  { operation: { name, title, ends }, input, digest }: CallIdentity,
  { services, workspace, caller }: Pick<CallContext<Services>, 'services' | 'workspace' | 'caller'>,
  all: readonly WorkflowRecord[],
): Promise<void> {
  const others = all.filter(
    (workflow) => isOpen(workflow, services.clock.now()) && workflow.spec.call?.digest !== digest,
  );
  if (caller.kind === 'device') {
    const waiting = others.find(({ spec }) => spec.requesterId === caller.id);
    if (!waiting) return;
    throw new MeshError(
      'rate_limited',
      `This device waits already (${waiting.name}: ${waiting.spec.summary}). Have that approved or rejected first.`,
      { workflow_id: waiting.name },
    );
  }
  if (ends === undefined) return;
  const target = foldName(String(input[ends]));
  const other = others.find(
    ({ spec: { call } }) => call?.operation === name && foldName(String(call.asked[ends])) === target,
  );
  if (!other) return;
  const { [ends]: _, ...rest } = other.spec.call?.asked ?? {};
  const how = Object.entries(rest).map(([field, value]) => ` with ${field} ${String(value)}`);
  const where = other.workspace === workspace ? '' : ` in the workspace ${await slugOf(services, other.workspace)}`;
  throw new MeshError(
    'conflict',
    `${title}: that is asked already of ${target}${how.join(',')}, by ${other.spec.requestedBy}, and waits as ${other.name}${where}. Have that approved; to ask for it otherwise, have it rejected first.`,
    { workflow_id: other.name },
  );
}
