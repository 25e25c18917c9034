import type { Caller } from '../base/caller.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialised } from '../base/serialise.ts';
import { cancelOp, isUndecided } from '../model/asked.ts';
import type { AgentRecord } from '../model/resources.ts';
import type { TokenRecord } from '../model/token-record.ts';
import { isOpen } from '../state/agent-tree.ts';
import type { NetworkServices, PeerServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type AccountRecord, accountById, findAccount, normalizeUsername } from './accounts.ts';
import { endAgents } from './end-agents.ts';
import { roleOf } from './members.ts';

/**
 * What a person leaves in a workspace, to be committed with what takes them out of it: their join and API tokens and plans
 * go, what they asked for and nobody decided is not carried out, and their agents pass to a successor where one is named.
 * Devices that came with their join tokens stay.
 */
export async function leavingOps(
  { store, states }: Pick<NetworkServices, 'store' | 'states'>,
  workspace: string,
  { uid, name }: Pick<AccountRecord, 'uid' | 'name'>,
  successor: AccountRecord | undefined,
): Promise<Op[]> {
  const [tokens, plans, workflows] = await Promise.all([
    store.list(workspace, 'Token'),
    store.list(workspace, 'Plan'),
    store.list(workspace, 'Workflow'),
  ]);
  const isTheirs = ({ spec }: TokenRecord) =>
    spec.kind === 'api' ? spec.owner === uid : spec.kind === 'join' && spec.createdBy === `user:${name}`;
  const gone = [...tokens.items.filter(isTheirs), ...plans.items.filter(({ spec }) => spec.requesterId === uid)];
  const undecided = workflows.items.filter(
    (workflow) => isUndecided(workflow) && (workflow.spec.requesterId === uid || workflow.spec.applierId === uid),
  );
  return [
    ...gone.map(({ kind, name: key }): Op => ({ op: 'delete', key: { kind, name: key } })),
    ...undecided.map((workflow) => cancelOp(workflow, `${name}, who asked for it, has left`)),
    ...(successor ? passOps(await states.current(workspace), { from: { uid }, to: successor }) : []),
  ];
}

/** Ends what a person wrote while what they leave was read. Nothing of who is a member, as platform administrators are. */
export async function endLeft(
  services: PeerServices,
  workspace: string,
  account: AccountRecord,
  why: CommitContext,
): Promise<void> {
  const context = { ...why, decided: 'now' } as const;
  const end = async () => {
    const now = await accountById(services, account.uid);
    if (now && (await isMember(services, workspace, now))) return 0;
    const ops = await leavingOps(services, workspace, account, undefined);
    if (ops.length > 0) await services.store.commit(workspace, ops, context);
    return ops.length;
  };
  while ((await serialised(services.store, workspace, end)) > 0);
}

/**
 * Who takes over the agents of a person that leaves. In a workspace that is who removes the other: an administrator there
 * is not told which other accounts exist, and nobody is made to answer for agents unasked.
 *
 * @throws MeshError `forbidden` for anybody else
 */
export async function successorIn(
  services: Pick<NetworkServices, 'store'>,
  { workspace, caller }: { readonly workspace: string; readonly caller: Caller | null },
  username: string | undefined,
  leaving: string,
): Promise<AccountRecord | undefined> {
  if (username === undefined) return undefined;
  requireOther(username, leaving);
  const account = normalizeUsername(username) === caller?.name ? await findAccount(services, username) : undefined;
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
    const heir =
      account?.spec.successor === undefined ? undefined : await accountById(services, account.spec.successor);
    if (account && heir && (await isMember(services, workspace, heir))) {
      await passOn(services, workspace, { from: account, to: heir }, context);
    } else gone.add(id);
  }
  if (gone.size === 0) return [];
  return endAgents(services, workspace, (now) => [...gone].flatMap((id) => rootsOf(now, id)), 'Revoked', context);
}

interface Heirs {
  readonly from: Pick<AccountRecord, 'uid'>;
  readonly to: Pick<AccountRecord, 'uid' | 'name'>;
}

async function passOn(services: PeerServices, workspace: string, heirs: Heirs, context: CommitContext): Promise<void> {
  await serialised(services.store, workspace, async () => {
    const ops = passOps(await services.states.current(workspace), heirs);
    if (ops.length > 0) await services.store.commit(workspace, ops, context);
  });
}

function passOps(state: NetworkState, { from, to: { uid, name } }: Heirs): Op[] {
  return rootsOf(state, from.uid)
    .filter(isOpen)
    .map((agent) => ({
      op: 'update',
      revision: agent.revision,
      record: { ...draftOf(agent), spec: { ...agent.spec, person: { id: uid, name } } },
    }));
}

/** Whether an account has a part in a workspace. */
export async function isMember(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  account: AccountRecord,
): Promise<boolean> {
  if (account.spec.disabled) return false;
  return account.spec.role === 'platform_admin' || (await roleOf(services, workspace, account)) !== undefined;
}

function rootsOf({ agents }: NetworkState, person: string): AgentRecord[] {
  return [...agents.values()].filter(({ spec }) => spec.person?.id === person);
}
