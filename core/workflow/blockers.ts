import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { isUndecided, type WorkflowRecord } from '../model/workflow-records.ts';
import type { Services } from './services.ts';
import { callWorkflows } from './workflows.ts';

type Uses = Pick<Services, 'store' | 'clock'>;

/**
 * Returns a sentence that says what a call waits for besides the approvers of this workspace; undefined where it waits for
 * nothing else. It does not name other workspaces.
 */
export async function blockersOf(services: Uses, workflow: WorkflowRecord): Promise<string | undefined> {
  const { workspace, spec, status } = workflow;
  const { call } = spec;
  if (!call || !isUndecided(workflow)) return undefined;
  const open = await callWorkflows(services, call.approvedIn, call.digest);
  const others = (await decidingOn(services, call.approvedIn)).filter(
    (id) => id !== workspace && open.get(id)?.status.state !== 'approved',
  );
  const blockers = [
    ...(others.length > 0 ? [elsewhere(others.length)] : []),
    ...(status.state === 'approved' && !call.input ? [REPEATED] : []),
  ];
  return blockers.length > 0 ? blockers.join(' ') : undefined;
}

/** Returns the workspaces that still exist: nobody decides in a deleted one. */
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
