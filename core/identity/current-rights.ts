import { apiTokenOf, type Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { isAgentId } from '../base/ids.ts';
import { ROLE_SCOPES, type Scope } from '../base/scope.ts';
import { hasEnded } from '../base/time.ts';
import type { WorkflowOwner } from '../model/workflow-records.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, accountById } from './accounts.ts';
import { agentRights } from './agent-rights.ts';
import { commonScopes, NO_SCOPES } from './grants.ts';
import { roleOf } from './members.ts';
import { isApiTokenGood, isBarred } from './token-caller.ts';

type RightsServices = Pick<NetworkServices, 'store' | 'clock'>;

/** A caller as it was kept, to be asked again later. */
export interface StoredCaller {
  readonly workspace: string;
  readonly caller: Pick<Caller, 'kind' | 'id' | 'subject' | 'name' | 'interactive' | 'tokenId'> & {
    readonly scopes: readonly Scope[];
  };
}

/**
 * Returns the caller of an earlier request as of now: with the scopes that they held then and still hold.
 *
 * @throws MeshError `forbidden` when they have gone
 */
export async function currentCaller(services: RightsServices, kept: StoredCaller): Promise<Caller> {
  const { workspace, caller } = kept;
  await requireToken(services, workspace, apiTokenOf(caller), caller.name);
  const held = await currentScopes(services, workspace, caller);
  const scopes = commonScopes(new Set(caller.scopes), held);
  return {
    ...caller,
    ...(caller.kind === 'user' && { person: caller.id }),
    workspaces: [workspace],
    scopesIn: (asked) => (asked === workspace ? scopes : new Set()),
    again: () => currentCaller(services, kept),
  };
}

/**
 * Holds a write to what its caller may at the moment of the commit: it waited, and was judged, since it was let in. Who
 * comes with a credential is asked for it again, so whatever ends one ends the writes that wait with it.
 *
 * @throws MeshError `forbidden`
 */
export async function requireCurrentRights(services: RightsServices, workspace: string, caller: Caller): Promise<void> {
  if (await hasCurrentRights(services, workspace, caller)) return;
  throw new MeshError(
    'forbidden',
    `${caller.name} has ended, or may less than when it asked: nothing of this is written.`,
  );
}

async function hasCurrentRights(services: RightsServices, workspace: string, caller: Caller): Promise<boolean> {
  if (caller.again) return hasSameRights(caller, await caller.again().catch(noneWhereRefused));
  if (caller.kind !== 'agent') return true;
  const [own = workspace] = caller.workspaces;
  const standing = await agentRights(services, own, caller.id);
  return standing !== undefined && standing.endsAt > services.clock.now();
}

function noneWhereRefused(error: unknown): undefined {
  if (!(error instanceof MeshError)) throw error;
}

/** Returns true if a caller is the same as then, with all that they held then. */
function hasSameRights(then: Caller, now: Caller | undefined): boolean {
  if (now?.id !== then.id || now.tokenId !== then.tokenId) return false;
  if (then.workspaces === 'all') return now.workspaces === 'all';
  return then.workspaces.every((id) => then.scopesIn(id).isSubsetOf(now.scopesIn(id)));
}

/**
 * Requires that the API token of a request is still valid, because its requests end with it. A session may end meanwhile: its
 * person stays.
 */
async function requireToken(
  services: RightsServices,
  workspace: string,
  token: string | undefined,
  name: string,
): Promise<void> {
  if (token !== undefined && !(await isApiTokenGood(services, workspace, token))) throw gone(`A token of ${name}`);
}

async function currentScopes(
  services: RightsServices,
  workspace: string,
  { kind, id, name, scopes }: StoredCaller['caller'],
): Promise<ReadonlySet<Scope>> {
  if (kind === 'local') return new Set(scopes);
  if (kind === 'agent') return scopesOfAgent(services, workspace, id);
  if (kind === 'device') return scopesOfDevice(services, workspace, id, name);
  const account = await accountById(services, id);
  const held = account && (await scopesOfAccount(services, workspace, account));
  if (!held || held.size === 0) throw gone(name);
  return held;
}

/** @throws MeshError `forbidden` for one that has ended, or whose peer was revoked */
async function scopesOfAgent(services: RightsServices, workspace: string, id: string): Promise<ReadonlySet<Scope>> {
  const standing = await agentRights(services, workspace, id);
  const [agent] = standing?.line ?? [];
  if (!standing || !agent || standing.endsAt <= services.clock.now() || (await isBarred(services, agent))) {
    throw gone(await agentName(services, workspace, id));
  }
  return standing.scopes;
}

/** A device calls its own operations without scopes. @throws MeshError `forbidden` for one that has left or is not let in */
async function scopesOfDevice(
  { store, clock }: RightsServices,
  workspace: string,
  id: string,
  name: string,
): Promise<ReadonlySet<Scope>> {
  const peer = await store.getById(workspace, 'MeshPeer', id);
  if (peer?.status.phase !== 'ready' || hasEnded(peer.spec, clock.now())) throw gone(name);
  return NO_SCOPES;
}

/** Empty for one that is disabled or no member. */
async function scopesOfAccount(
  services: RightsServices,
  workspace: string,
  account: AccountRecord,
): Promise<ReadonlySet<Scope>> {
  if (account.spec.disabled) return NO_SCOPES;
  if (account.spec.role === 'platform_admin') return ROLE_SCOPES.platform_admin;
  const role = await roleOf(services, workspace, account);
  return role ? ROLE_SCOPES[role] : NO_SCOPES;
}

/** Returns true if the scopes allow a change of the network: by a plan, or directly. */
function mayChange(scopes: ReadonlySet<Scope>): boolean {
  return scopes.has('intents:apply') || scopes.has('network:write');
}

/**
 * Holds the execution of what was asked for earlier to whoever asked and whoever applied it being there still, with the
 * right to ask for it, and with the API token that they asked with.
 *
 * @throws MeshError `forbidden` when one of them has ended or was removed
 */
export async function requireActiveOwners(
  services: RightsServices,
  workspace: string,
  { requesterId, requesterToken, applierId, applierToken }: WorkflowOwner,
): Promise<void> {
  await requireActiveRequester(services, workspace, requesterId, requesterToken);
  await requireActiveRequester(services, workspace, applierId, applierToken);
}

/** Whoever is neither an agent nor has an account is not looked at. */
async function requireActiveRequester(
  services: RightsServices,
  workspace: string,
  id: string,
  token: string | undefined,
): Promise<void> {
  if (isAgentId(id)) {
    if (mayChange(await scopesOfAgent(services, workspace, id))) return;
    throw gone(await agentName(services, workspace, id));
  }
  const account = await accountById(services, id);
  if (account && !mayChange(await scopesOfAccount(services, workspace, account))) throw gone(account.name);
  await requireToken(services, workspace, token, account?.name ?? 'somebody who has gone');
}

/** Returns the name of an agent; only its id where another agent has taken the name. */
async function agentName({ store }: RightsServices, workspace: string, id: string): Promise<string> {
  return (await store.getById(workspace, 'AgentIdentity', id))?.name ?? `The agent ${id}`;
}

function gone(name: string): MeshError {
  return new MeshError('forbidden', `${name}, who asked for this, has ended or may no longer ask for it.`);
}
