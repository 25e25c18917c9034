import { MeshError } from '../base/errors.ts';
import type { AnyOperation, CallContext } from '../base/operation.ts';
import { foldName } from '../base/record.ts';
import { isUndecided, type WorkflowRecord } from '../model/asked.ts';
import { slugOf } from '../model/workspaces.ts';
import type { Services } from './services.ts';

interface Asked {
  readonly operation: Pick<AnyOperation<Services>, 'name' | 'title' | 'ends'>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly digest: string;
}

/**
 * Of calls that end the same one alone waits: what was approved last would find nothing any more. Of a device one call alone
 * waits, so that it cannot fill the list of those who approve.
 *
 * @param all workflows of a workspace whose people decide
 * @throws MeshError `conflict` that says which one waits, and what to do; `rate_limited` for a device
 */
export async function requireFirst(
  { operation: { name, title, ends }, input, digest }: Asked,
  { services, workspace, caller }: Pick<CallContext<Services>, 'services' | 'workspace' | 'caller'>,
  all: readonly WorkflowRecord[],
): Promise<void> {
  if (caller?.kind === 'device') {
    const waiting = all.find(
      (workflow) =>
        workflow.spec.requesterId === caller.id &&
        workflow.spec.call?.digest !== digest &&
        workflow.spec.expiresAt > services.clock.now() &&
        isUndecided(workflow),
    );
    if (!waiting) return;
    throw new MeshError(
      'rate_limited',
      `This device waits already (${waiting.name}: ${waiting.spec.summary}). Have that approved or rejected first.`,
      { workflow_id: waiting.name },
    );
  }
  if (ends === undefined) return;
  const of = foldName(String(input[ends]));
  const other = all.find((workflow) => {
    const { call, expiresAt } = workflow.spec;
    const isSame = call?.operation === name && foldName(String(call.asked[ends])) === of;
    return isSame && call.digest !== digest && expiresAt > services.clock.now() && isUndecided(workflow);
  });
  if (!other) return;
  const { [ends]: _, ...rest } = other.spec.call?.asked ?? {};
  const how = Object.entries(rest).map(([field, value]) => ` with ${field} ${String(value)}`);
  const where = other.workspace === workspace ? '' : ` in the workspace ${await slugOf(services, other.workspace)}`;
  throw new MeshError(
    'conflict',
    `${title}: that is asked already of ${of}${how.join(',')}, by ${other.spec.requestedBy}, and waits as ${other.name}${where}. Have that approved; to ask for it otherwise, have it rejected first.`,
    { workflow_id: other.name },
  );
}
