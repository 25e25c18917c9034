import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { ROLE_SCOPES } from '../base/scope.ts';
import type { AccountRecord } from '../identity/accounts.ts';
import { isOnlyApprover } from '../identity/approvers.ts';
import { roleOf } from '../identity/members.ts';
import type { WorkspaceRecord, WorkspaceSettings } from '../model/workspaces.ts';
import { isOpen } from '../state/agent-tree.ts';
import type { NetworkServices } from '../state/services.ts';
import { changesDuty, decisionsIn, namesSuccessor, weakensApproval } from './decisions.ts';
import type { Write } from './writes.ts';

type Reads = Pick<NetworkServices, 'store'>;

/** Returns the record of the workspace that a batch is written in; undefined while it is being made. */
export type WorkspaceReader = () => Promise<WorkspaceRecord | undefined>;

/**
 * Returns the workspaces whose approvers a batch has to be shown to: with `requireApproval` the one it is written in, or, for
 * accounts, every one in which the account may approve, or has agents that pass to another, for no other may decide that
 * for them. Where there is a second approver, weaker approval settings are shown to them, whatever the workspace asks, and
 * so is who may approve, where the settings name a second person: whoever removes or makes one needs no other any more.
 * `changesDuty`: only another person approves it, as long as there is one.
 */
export async function concernedWorkspaces(
  services: Reads,
  workspace: string,
  writes: readonly Write[],
  own: WorkspaceReader,
): Promise<{ readonly workspaces: readonly string[]; readonly changesDuty: boolean }> {
  const items = await possiblyConcerned(services, writes, own);
  const [asking, ofDuty] = [new Set<string>(), new Set<string>()];
  const ofApprovers = writes.filter(isOfApprovers);
  for (const { uid, spec } of items) {
    const isIn = uid === workspace;
    if (spec.settings.requireApproval) {
      if (isIn || (await concerns(services, uid, writes))) asking.add(uid);
    } else if (namesSecondPerson(spec.settings)) {
      if ((isIn && ofApprovers.some(isDecision)) || (await concerns(services, uid, ofApprovers))) ofDuty.add(uid);
    }
  }
  for (const write of writes) {
    if (!write.before) continue;
    const { uid } = write.before;
    if (changesDuty(write) || (weakensApproval(write) && !(await isOnlyApprover(services, uid)))) ofDuty.add(uid);
  }
  return { workspaces: [...asking.union(ofDuty)], changesDuty: ofDuty.size > 0 };
}

/** Returns the workspaces that a batch may concern: all of them only where accounts or workspaces are written. */
async function possiblyConcerned(
  { store }: Reads,
  writes: readonly Write[],
  own: WorkspaceReader,
): Promise<readonly WorkspaceRecord[]> {
  if (writes.some(({ kind }) => kind === 'Account' || kind === 'Workspace')) {
    return (await store.list(SYSTEM_WORKSPACE, 'Workspace')).items;
  }
  const record = await own();
  return record ? [record] : [];
}

/** Returns whether a workspace without `requireApproval` asks for a second person, for whatever it is. */
function namesSecondPerson({ selfApproval, compliance }: WorkspaceSettings): boolean {
  return selfApproval === false || compliance?.secondPerson === true;
}

function isOfApprovers({ kind }: Write): boolean {
  return kind === 'Member' || kind === 'Account';
}

function isDecision(write: Write): boolean {
  return decisionsIn([write], { callerId: '' }).length > 0;
}

async function concerns(services: Reads, workspace: string, writes: readonly Write[]): Promise<boolean> {
  for (const { kind, before, after } of writes) {
    if (kind === 'Workspace' && before?.uid === workspace) return true;
    if (kind !== 'Account') continue;
    const [was, is] = [before, after] as readonly (AccountRecord | undefined)[];
    for (const account of [was, is]) if (account && (await mayApprove(services, workspace, account))) return true;
    if (is && namesSuccessor(was?.spec, is.spec) && (await hasAgents(services, workspace, is))) return true;
  }
  return false;
}

/** Ignores whether the successor is a member: that is decided when the agents pass. */
async function hasAgents({ store }: Reads, workspace: string, { uid }: AccountRecord): Promise<boolean> {
  const { items } = await store.list(workspace, 'AgentIdentity');
  return items.some((agent) => agent.spec.person?.id === uid && isOpen(agent));
}

async function mayApprove(services: Reads, workspace: string, account: AccountRecord): Promise<boolean> {
  if (account.spec.role === 'platform_admin') return true;
  const role = await roleOf(services, workspace, account);
  return role !== undefined && ROLE_SCOPES[role].has('workflows:approve');
}
