import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { requireSession } from '../base/require-session.ts';
import type { WorkspaceRole } from '../base/scope.ts';
import { serialized } from '../base/serialize.ts';
import { writtenRecord } from '../base/written-record.ts';
import { workspaceById } from '../model/workspaces.ts';
import { isOpen } from '../state/agent-tree.ts';
import type { PeerCall, PeerServices, StoreCall } from '../state/services.ts';
import { type AccountRecord, findAccount, normalizeUsername, USERNAME_PATTERN } from './accounts.ts';
import { isOfOneAccount, type MemberRecord, memberDraft } from './members.ts';
import {
  endLeftovers,
  endOrphans,
  heirIn,
  offboardingOps,
  openAgentsOf,
  passSchedules,
  successorIn,
} from './offboard.ts';
import { type Leftover, leftoversInWorkspace } from './offboarding-preview.ts';

/**
 * Makes who has this user name a member, or changes the role it has, in this workspace and nowhere else. Accounts are
 * not looked at: the work and the answer are the same whether or not there is one.
 */
export async function setMember(username: string, role: WorkspaceRole, context: StoreCall): Promise<MemberRecord> {
  requireSession(context.caller);
  const { store } = context.services;
  const name = normalizeUsername(username);
  if (!USERNAME_PATTERN.test(name)) throw noUsername();
  const member = await memberOf(name, context);
  const held = member && (member.spec.issued || !isOfOneAccount(member)) ? member : undefined;
  if (held?.spec.role === role) return held;
  const record = held ? { ...draftOf(held), spec: { ...held.spec, role } } : memberDraft(name, role);
  const ops: Op[] = held
    ? [{ op: 'update', record, revision: held.revision }]
    : [...deletion(member), { op: 'create', record }];
  const commit = commitContext(context, `made ${name} ${role}`);
  return writtenRecord(await store.commit(context.workspace, ops, commit), record);
}

/** Returns the deletion of a membership of one account alone, which a membership by name replaces. */
function deletion(member: MemberRecord | undefined): readonly Op[] {
  return member ? [{ op: 'delete', key: { kind: 'Member', name: member.name }, revision: member.revision }] : [];
}

/**
 * Ends a membership with all that hangs on its account in this workspace: tokens, plans, what waits for approval, and
 * agents, unless a successor takes them over. Sessions go on elsewhere.
 *
 * @returns names of the agents that ended
 * @throws MeshError `not_found`
 */
export async function removeMember(
  username: string,
  successor: string | undefined,
  context: PeerCall,
): Promise<string[]> {
  requireSession(context.caller);
  const name = normalizeUsername(username);
  if (!(await memberOf(name, context))) {
    throw new MeshError('not_found', `${username} is no member of this workspace.`);
  }
  const { services, workspace } = context;
  const account = await findAccount(services, name);
  const heir = await memberHeir(context, { name, account }, successor);
  const agents = heir ? `, and gave what they left to ${heir.name}` : '';
  const commit = commitContext(context, `removed member ${name}${agents}`);
  return endMembership(services, workspace, { name, account, heir }, commit);
}

interface EndingMembership {
  /** User name. */
  readonly name: string;
  readonly account: AccountRecord | undefined;
  /** Takes over what the member leaves. */
  readonly heir: AccountRecord | undefined;
}

/** Ends a membership as {@link removeMember} does. @returns names of the agents that ended */
export async function endMembership(
  services: PeerServices,
  workspace: string,
  { name, account, heir }: EndingMembership,
  commit: CommitContext,
): Promise<string[]> {
  const had = account ? openAgentsOf(await services.states.current(workspace), account.uid) : [];
  let isMet = false;
  await serialized(services.store, workspace, async () => {
    const member = await memberOf(name, { services, workspace });
    if (!member) return;
    const left = account ? await offboardingOps(services, workspace, account, heir) : [];
    // Concurrent writes of the member must not keep them in: on a retry, what else they leave goes after the removal, when they
    // have no rights any more.
    const ops = isMet ? left.filter(isOfAgents) : left;
    isMet = true;
    await services.store.commit(workspace, [{ op: 'delete', key: { kind: 'Member', name } }, ...ops], commit);
  });
  if (account) {
    await endLeftovers(services, workspace, account, heir, commit);
    await passSchedules(services, workspace, account, heir, commit);
  }
  const ended = new Set(await endOrphans(services, workspace, commit));
  // The job that ends the agents of people who have gone may have been first.
  const { agents: now } = await services.states.current(workspace);
  for (const { name: agent } of had) {
    const record = now.get(agent);
    if (!record || !isOpen(record)) ended.add(agent);
  }
  return [...ended];
}

/** Returns what would become of what a member leaves. @throws MeshError as {@link removeMember} */
export async function previewRemoval(
  username: string,
  successor: string | undefined,
  context: PeerCall,
): Promise<Leftover[]> {
  requireSession(context.caller);
  const name = normalizeUsername(username);
  if (!(await memberOf(name, context))) throw new MeshError('not_found', `${username} is no member of this workspace.`);
  const { services, workspace } = context;
  const account = await findAccount(services, name);
  const heir = await memberHeir(context, { name, account }, successor);
  if (!account) return [];
  return leftoversInWorkspace(services, await workspaceById(services, workspace), account, heir);
}

/** Returns who takes over what a member leaves: who removes them, where they say so, else whom the workspace names. */
async function memberHeir(
  { services, workspace, caller }: PeerCall,
  { name, account }: { readonly name: string; readonly account: AccountRecord | undefined },
  successor: string | undefined,
): Promise<AccountRecord | undefined> {
  const named = await successorIn(services, { workspace, caller }, successor, name);
  return named ?? (account && heirIn(services, workspace, { uid: account.uid }));
}

function isOfAgents(op: Op): boolean {
  return 'record' in op && op.record.kind === 'AgentIdentity';
}

async function memberOf(name: string, { services, workspace }: Pick<StoreCall, 'services' | 'workspace'>) {
  return await services.store.get(workspace, { kind: 'Member', name });
}

function noUsername(): MeshError {
  const detail =
    'A user name has 1 to 63 of the letters a to z, digits and . _ @ + -, and begins and ends with a letter or digit.';
  return invalidInput([{ pointer: '/username', detail }], detail);
}
