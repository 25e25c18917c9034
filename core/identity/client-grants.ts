import type { Caller } from '../base/caller.ts';
import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { plainAddress } from '../base/origin.ts';
import { draftOf } from '../base/record.ts';
import { requireSession } from '../base/require-session.ts';
import type { OAuthGrant } from '../model/oauth.ts';
import type { AgentClient, AgentRecord } from '../model/resources.ts';
import type { TokenRecord } from '../model/token-record.ts';
import type { WorkspaceRecord } from '../model/workspaces.ts';
import { isLive } from '../state/agent-tree.ts';
import type { NetworkServices, StoreCall } from '../state/services.ts';
import { accountById } from './accounts.ts';
import { issuerSignOut } from './issuer-sessions.ts';
import { endGrant, isOfEpoch, isSameEpoch } from './oauth-grants.ts';
import { liveSessions } from './sessions.ts';
import { workspacesOf } from './who-am-i.ts';

/** A grant of a person to an OAuth client, whose agent lives. */
export interface ClientGrant {
  /** Uid of the record. */
  readonly name: string;
  readonly record: TokenRecord;
  readonly grant: OAuthGrant;
  readonly client: AgentClient;
  readonly agent: AgentRecord;
  readonly workspace: WorkspaceRecord;
}

type Reads = Pick<NetworkServices, 'store' | 'states' | 'clock'>;
type GrantCall = StoreCall & { readonly services: Reads };

/** The grants of the caller, in every workspace. */
export async function ownGrants({ services, caller }: { readonly services: Reads; readonly caller: Caller }) {
  const { id } = requireSession(caller);
  const workspaces = await workspacesOf(services, caller);
  const found = await Promise.all(workspaces.map((workspace) => grantsIn(services, workspace, id)));
  return found.flat();
}

async function grantsIn(
  { store, states, clock }: Reads,
  workspace: WorkspaceRecord,
  account: string,
): Promise<readonly ClientGrant[]> {
  const { agents } = await states.current(workspace.uid);
  const now = clock.now();
  const own = new Map(
    [...agents.values()]
      .filter((agent) => agent.status.client && agent.spec.person?.id === account && isLive(agent, now))
      .map((agent) => [agent.uid, agent]),
  );
  if (own.size === 0) return [];
  const person = await accountById({ store }, account);
  const { items } = await store.list(workspace.uid, 'Token');
  return items.flatMap((record) => {
    const { kind, oauth: grant, owner } = record.spec;
    const agent = own.get(owner);
    const client = agent?.status.client;
    if (kind !== 'oat' || !grant || !agent || !client || !isSameEpoch(grant, person)) return [];
    return [{ name: record.uid, record, grant, client, agent, workspace }];
  });
}

/** Returns the uids of those agents of a workspace whose OAuth client is signed in; undefined where no client acts as any. */
export async function signedInAgents(
  { store }: Pick<Reads, 'store'>,
  workspace: string,
  agents: readonly AgentRecord[],
): Promise<ReadonlySet<string> | undefined> {
  if (!agents.some(({ status }) => status.client)) return undefined;
  const { items } = await store.list(workspace, 'Token');
  // Another authorization server alone knows whether its clients are.
  const elsewhere = agents.flatMap(({ uid, status }) => (status.client?.issuer === undefined ? [] : [uid]));
  const owners = items.map(async ({ spec: { kind, oauth, owner } }) =>
    kind === 'oat' && oauth && owner !== undefined && (await isOfEpoch({ store }, oauth)) ? [owner] : [],
  );
  return new Set([...elsewhere, ...(await Promise.all(owners)).flat()]);
}

/** Ends one grant of the caller: its tokens are refused from the commit on. @throws MeshError `not_found` */
export async function endOwnGrant(context: GrantCall, id: string): Promise<void> {
  const found = (await ownGrants(context)).find(({ record }) => record.uid === id);
  if (!found) throw new MeshError('not_found', `You have no grant ${id}: list_client_grants shows those there are.`);
  const { grant, client } = found;
  await endGrant(
    context.services,
    grant.id,
    commitContext(context, `end the OAuth grant of ${client.name} (${client.host})`),
  );
}

interface SignOutCall extends GrantCall {
  readonly services: Reads & Pick<NetworkServices, 'keys' | 'settings' | 'issuers'>;
}

/**
 * Ends every session and every grant of the caller in one write. API tokens and agents go on.
 *
 * @returns how many ended, and where the issuer that signed the caller in signs them out too
 */
export async function signOutEverywhere(
  context: SignOutCall,
): Promise<{ sessions: number; grants: number; signOutUrl?: string }> {
  const { services, origin } = context;
  const { id, subject, tokenId } = requireSession(context.caller);
  const account = await accountById(services, id);
  if (!account) throw new MeshError('unauthenticated', 'This account was removed.');
  const ended = { sessions: (await liveSessions(services, id)).length, grants: (await ownGrants(context)).length };
  const { factorEpoch = 0, grantEpoch = 0 } = account.spec;
  const epochs = { factorEpoch: factorEpoch + 1, grantEpoch: grantEpoch + 1, signedOutAt: services.clock.now() };
  const spec = { ...account.spec, ...epochs };
  const event = { type: 'logout', actor: subject, result: 'ok', origin: plainAddress(origin), detail: ended } as const;
  await services.store.commit(
    SYSTEM_WORKSPACE,
    [{ op: 'update', record: { ...draftOf(account), spec }, revision: account.revision }],
    commitContext(context, 'logged out everywhere', { securityEvents: [event] }),
  );
  const session = await services.store.get(SYSTEM_WORKSPACE, { kind: 'Session', name: tokenId });
  const signOutUrl = session && (await issuerSignOut(services, session));
  return { ...ended, ...(signOutUrl !== undefined && { signOutUrl }) };
}
