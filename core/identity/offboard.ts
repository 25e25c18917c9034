import type { Caller } from '../base/caller.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf, type StoredRecord } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import type { AgentRecord } from '../model/resources.ts';
import type { TokenRecord } from '../model/token-record.ts';
import { cancelOp, isUndecided, type PlanRecord, type WorkflowRecord } from '../model/workflow-records.ts';
import { SCHEDULE_NAMES, type ScheduleName, type WorkspaceRecord } from '../model/workspaces.ts';
import { family, isOpen } from '../state/agent-tree.ts';
import type { NetworkServices, PeerServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type AccountRecord, accountById, findAccount, normalizeUsername } from './accounts.ts';
import { endAgents } from './end-agents.ts';
import { roleOf } from './members.ts';

/**
 * Returns the ops for what a person leaves in a workspace, to be committed with the removal of the person: their API tokens and
 * plans are deleted, and their undecided requests are canceled. Their agents, join tokens and webhooks pass to a successor;
 * without one the join tokens are deleted, agents are ended after it, and webhooks pass to the workspace. Devices that came
 * with their join tokens stay.
 */
export async function offboardingOps(
  services: Pick<NetworkServices, 'store' | 'states'>,
  workspace: string,
  person: Pick<AccountRecord, 'uid' | 'name'>,
  successor: AccountRecord | undefined,
): Promise<Op[]> {
  const { apiTokens, joinTokens, agents, webhooks, plans, undecided } = await leftoversOf(services, workspace, person);
  const gone = [...apiTokens, ...(successor ? [] : joinTokens), ...plans];
  const owner = successor ? { id: successor.uid, name: successor.name } : null;
  return [
    ...gone.map(({ kind, name: key }): Op => ({ op: 'delete', key: { kind, name: key } })),
    ...undecided.map((workflow) => cancelOp(workflow, `${person.name}, who asked for it, has left`)),
    ...webhooks.map(
      (webhook): Op => ({
        op: 'update',
        revision: webhook.revision,
        record: { ...draftOf(webhook), spec: { ...webhook.spec, owner } },
      }),
    ),
    ...(successor ? [...passOps(agents, successor), ...joinTokens.map((token) => passTokenOp(token, successor))] : []),
  ];
}

/** Everything in a workspace that a person made or asked for, and that does not simply stay there. */
export interface Leftovers {
  readonly apiTokens: readonly TokenRecord[];
  readonly joinTokens: readonly TokenRecord[];
  /** Root agents that have not ended. */
  readonly agents: readonly AgentRecord[];
  readonly webhooks: readonly StoredRecord<'Webhook'>[];
  readonly plans: readonly PlanRecord[];
  readonly undecided: readonly WorkflowRecord[];
}

export async function leftoversOf(
  { store, states }: Pick<NetworkServices, 'store' | 'states'>,
  workspace: string,
  { uid, name }: Pick<AccountRecord, 'uid' | 'name'>,
): Promise<Leftovers> {
  const [tokens, plans, workflows, webhooks, state] = await Promise.all([
    store.list(workspace, 'Token'),
    store.list(workspace, 'Plan'),
    store.list(workspace, 'Workflow'),
    store.list(workspace, 'Webhook'),
    states.current(workspace),
  ]);
  const subject = `user:${name}`;
  return {
    apiTokens: tokens.items.filter(({ spec }) => spec.kind === 'api' && spec.owner === uid),
    joinTokens: tokens.items.filter(
      ({ spec }) => spec.kind === 'join' && (spec.owner === '' ? spec.createdBy === subject : spec.owner === uid),
    ),
    agents: rootsOf(state, uid).filter(isOpen),
    webhooks: webhooks.items.filter(({ spec: { owner, createdBy } }) =>
      owner === undefined ? createdBy === subject : owner?.id === uid,
    ),
    plans: plans.items.filter(({ spec }) => spec.requesterId === uid),
    undecided: workflows.items.filter(
      (workflow) => isUndecided(workflow) && (workflow.spec.requesterId === uid || workflow.spec.applierId === uid),
    ),
  };
}

/** Passes the schedules of a workspace that a person made. They stand with the workspace, in another partition than the rest. */
export async function passSchedules(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  { uid }: Pick<AccountRecord, 'uid'>,
  successor: AccountRecord | undefined,
  why: CommitContext,
): Promise<void> {
  await serialized(services.store, SYSTEM_WORKSPACE, async () => {
    const record = await services.store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace);
    const owned = record ? schedulesOf(record, uid) : [];
    if (!record || owned.length === 0) return;
    const to = successor ? { id: successor.uid, name: successor.name } : null;
    const scheduleOwners = {
      ...record.spec.scheduleOwners,
      ...Object.fromEntries(owned.map((name) => [name, to] as const)),
    };
    const draft = { ...draftOf(record), spec: { ...record.spec, scheduleOwners } };
    const op: Op = { op: 'update', record: draft, revision: record.revision };
    await services.store.commit(SYSTEM_WORKSPACE, [op], { ...why, decided: 'now' });
  });
}

/** Returns the schedules of a workspace that a person made. */
export function schedulesOf({ spec }: WorkspaceRecord, uid: string): readonly ScheduleName[] {
  return SCHEDULE_NAMES.filter((name) => spec.scheduleOwners?.[name]?.id === uid);
}

/**
 * Returns who takes over what a person leaves in a workspace where the call names nobody: the successor of the account, else
 * the one that the settings of the workspace name. Undefined where there is none, or they are no member.
 */
export async function heirIn(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  { uid, successor }: { readonly uid: string; readonly successor?: string | undefined },
): Promise<AccountRecord | undefined> {
  const named = successor === undefined ? undefined : await accountById(services, successor);
  const record = await services.store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace);
  const setting = record?.spec.settings.successor;
  const names =
    setting === undefined
      ? []
      : 'username' in setting
        ? [setting.username]
        : await byRole(services, workspace, setting.role);
  const defaults = named ? [] : await Promise.all(names.map((name) => findAccount(services, name)));
  for (const account of [named, ...defaults]) {
    if (account && account.uid !== uid && (await isMember(services, workspace, account))) return account;
  }
  return undefined;
}

/** User names of members with a role, those that have been members for longest first. */
async function byRole({ store }: Pick<NetworkServices, 'store'>, workspace: string, role: string): Promise<string[]> {
  const { items } = await store.list(workspace, 'Member');
  const having = items.filter(({ spec }) => spec.role === role);
  return having.toSorted((a, b) => a.createdAt - b.createdAt).map(({ name }) => name);
}

/** Ends or passes what a person wrote while what they leave was read. Nothing of who is a member, as platform administrators are. */
export async function endLeftovers(
  services: PeerServices,
  workspace: string,
  account: AccountRecord,
  successor: AccountRecord | undefined,
  why: CommitContext,
): Promise<void> {
  const context = { ...why, decided: 'now' } as const;
  const end = async () => {
    const now = await accountById(services, account.uid);
    if (now && (await isMember(services, workspace, now))) return 0;
    const ops = await offboardingOps(services, workspace, account, successor);
    if (ops.length > 0) await services.store.commit(workspace, ops, context);
    return ops.length;
  };
  while ((await serialized(services.store, workspace, end)) > 0);
}

/**
 * Returns the account that takes over the agents of a person that leaves. In a workspace that can only be the caller who
 * removes the person: an administrator there does not learn which other accounts exist, and nobody has to answer for agents
 * unasked.
 *
 * @throws MeshError `forbidden` for any other account
 */
export async function successorIn(
  services: Pick<NetworkServices, 'store'>,
  { workspace, caller }: { readonly workspace: string; readonly caller: Caller },
  username: string | undefined,
  leaving: string,
): Promise<AccountRecord | undefined> {
  if (username === undefined) return undefined;
  requireOther(username, leaving);
  const account = normalizeUsername(username) === caller.name ? await findAccount(services, username) : undefined;
  if (account && (await isMember(services, workspace, account))) return account;
  throw new MeshError('forbidden', 'Only you yourself can take over the agents of a member whom you remove.');
}

/** @throws MeshError `invalid_input` for who leaves themselves */
export function requireOther(successor: string, leaving: string): void {
  if (normalizeUsername(successor) !== normalizeUsername(leaving)) return;
  const detail = `${leaving} leaves: name somebody else as successor.`;
  throw invalidInput([{ pointer: '/successor', detail }], detail);
}

/** Ends the agents whose person is not there any more and named no successor, with all that hangs on them. @returns names of what ended */
export async function endOrphans(services: PeerServices, workspace: string, why: CommitContext): Promise<string[]> {
  const context = { decided: 'now', ...why } as const;
  const state = await services.states.current(workspace);
  const persons = new Set([...state.agents.values()].flatMap(({ spec }) => spec.person?.id ?? []));
  const gone = new Set<string>();
  for (const id of persons) {
    const account = await accountById(services, id);
    if (account && (await isMember(services, workspace, account))) continue;
    const heir = await heirIn(services, workspace, { uid: id, successor: account?.spec.successor });
    if (heir) await passOn(services, workspace, { from: { uid: id }, to: heir }, context);
    else gone.add(id);
  }
  if (gone.size === 0) return [];
  return endAgents(services, workspace, (now) => [...gone].flatMap((id) => rootsOf(now, id)), 'Revoked', context);
}

interface Heirs {
  readonly from: Pick<AccountRecord, 'uid'>;
  readonly to: Pick<AccountRecord, 'uid' | 'name'>;
}

async function passOn(services: PeerServices, workspace: string, heirs: Heirs, context: CommitContext): Promise<void> {
  await serialized(services.store, workspace, async () => {
    const { from, to } = heirs;
    const ops = passOps(rootsOf(await services.states.current(workspace), from.uid).filter(isOpen), to);
    if (ops.length > 0) await services.store.commit(workspace, ops, context);
  });
}

function passOps(roots: readonly AgentRecord[], { uid, name }: Heirs['to']): Op[] {
  return roots.map((agent) => ({
    op: 'update',
    revision: agent.revision,
    record: { ...draftOf(agent), spec: { ...agent.spec, person: { id: uid, name } } },
  }));
}

function passTokenOp(token: TokenRecord, { uid }: Heirs['to']): Op {
  const spec = { ...token.spec, owner: uid };
  return { op: 'update', record: { ...draftOf(token), spec }, revision: token.revision };
}

/** Returns true if an enabled account has a role in a workspace, or in the installation. */
export async function isMember(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  account: AccountRecord,
): Promise<boolean> {
  if (account.spec.disabled) return false;
  return account.spec.role === 'platform_admin' || (await roleOf(services, workspace, account)) !== undefined;
}

/** Returns the agents of a person that have not ended, with all that they delegated. */
export function openAgentsOf(state: NetworkState, person: string): AgentRecord[] {
  return rootsOf(state, person)
    .flatMap((root) => family(state, root))
    .filter(isOpen);
}

function rootsOf({ agents }: NetworkState, person: string): AgentRecord[] {
  return [...agents.values()].filter(({ spec }) => spec.person?.id === person);
}
