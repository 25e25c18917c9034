import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { isUndecided, type WorkflowRecord } from '../model/asked.ts';
import { callWorkflows } from './held-call.ts';
import type { Services } from './services.ts';

type Uses = Pick<Services, 'store' | 'clock'>;

/**
 * What keeps a call that waits from being carried out besides the people of the workspace of this workflow, for people, who
 * are not told which other workspaces there are. Undefined where nothing does.
 */
export async function awaitedOf(services: Uses, workflow: WorkflowRecord): Promise<string | undefined> {
  const { workspace, spec, status } = workflow;
  const { call } = spec;
  if (!call || !isUndecided(workflow)) return undefined;
  const known = await callWorkflows(services, call.approvedIn, call.digest);
  const others = (await decidingOn(services, call.approvedIn)).filter(
    (id) => id !== workspace && known.get(id)?.status.state !== 'approved',
  );
  const awaited = [
    ...(others.length > 0 ? [elsewhere(others.length)] : []),
    ...(status.state === 'approved' && !call.input ? [REPEATED] : []),
  ];
  return awaited.length > 0 ? awaited.join(' ') : undefined;
}

/** Those of the workspaces that exist: in one that was deleted nobody decides any more. */
export async function decidingOn(
  { store }: Pick<Services, 'store'>,
  workspaces: readonly string[],
): Promise<readonly string[]> {
  const found = await Promise.all(workspaces.map((id) => store.getById(SYSTEM_WORKSPACE, 'Workspace', id)));
  return found.flatMap((workspace) => workspace?.uid ?? []);
}

const REPEATED = 'Who asked for it has to send the call again: it holds a secret, which is not kept.';

function elsewhere(count: number): string {
  const who = count === 1 ? 'another workspace' : `${count} other workspaces`;
  return `The people of ${who} have to approve it too, and have not yet.`;
}
