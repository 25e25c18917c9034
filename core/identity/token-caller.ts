import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { ROLE_SCOPES, type Scope } from '../base/scope.ts';
import { parseInstant } from '../base/time.ts';
import type { IssuedAccess } from '../model/authorization-server.ts';
import type { AgentRecord, PeerRecord } from '../model/resources.ts';
import { type TokenKind, tokenKey } from '../model/token.ts';
import { type TokenRecord, unknownToken } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';
import { accountById } from './accounts.ts';
import { agentRights } from './agent-rights.ts';
import type { Verification } from './credential-cache.ts';
import { commonScopes, expandScopes, NO_SCOPES } from './grants.ts';
import { roleIn } from './members.ts';
import { isOfEpoch } from './oauth-grants.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

type Reads = Pick<NetworkServices, 'store'>;

/** Returns the caller that a token other than a session proves. @throws MeshError `unauthenticated` */
export async function verifyToken(
  services: Reads,
  directory: WorkspaceDirectory,
  bearer: string,
  kind: TokenKind,
): Promise<Verification> {
  const token = await services.store.lookup(tokenKey(bearer));
  if (token?.kind !== 'Token' || token.spec.kind !== kind) throw unknownToken();
  if (!(await directory.find(token.workspace))) throw unknownToken();
  const { caller, restsOn } = await OWNERS[kind](services, token);
  return { caller, restsOn: [`Token:${token.uid}`, `Workspace:${token.workspace}`, ...restsOn] };
}

/**
 * Returns true if an API token still proves its person: it exists, has not expired, and did not end with others of its account.
 */
export async function isApiTokenGood(
  services: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
  tokenId: string,
): Promise<boolean> {
  const token = await services.store.getById(workspace, 'Token', tokenId);
  if (token?.spec.kind !== 'api' || (token.spec.expiresAt ?? 0) <= services.clock.now()) return false;
  try {
    await accountCaller(services, token);
    return true;
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
}

const OWNERS: Readonly<Record<TokenKind, (services: Reads, token: TokenRecord) => Promise<Verification>>> = {
  api: accountCaller,
  agt: agentCaller,
  oat: oauthCaller,
  dev: deviceCaller,
  join: enrolmentCaller,
  dlg: enrolmentCaller,
};

async function accountCaller(services: Reads, token: TokenRecord): Promise<Verification> {
  const { owner, scopes = [], epoch } = token.spec;
  const account = await accountById(services, owner);
  if (!account || account.spec.disabled || account.spec.epoch !== epoch) throw unknownToken();
  const role =
    account.spec.role === 'platform_admin' ? 'platform_admin' : await roleIn(services, token.workspace, owner);
  if (!role) throw unknownToken();
  const held = commonScopes(expandScopes(scopes), ROLE_SCOPES[role]);
  return {
    caller: {
      ...inOneWorkspace(token, held, token.spec.expiresAt),
      kind: 'user',
      subject: `user:${account.name}`,
      id: account.uid,
      name: account.name,
      person: account.uid,
    },
    restsOn: [`Account:${owner}`, `Member:${owner}`],
  };
}

/** The part of a token's record that tells whose it is. */
type OwnedToken = Pick<TokenRecord, 'workspace' | 'uid'> & {
  readonly spec: Pick<TokenRecord['spec'], 'owner' | 'expiresAt'>;
};

async function agentCaller(services: Reads, token: OwnedToken): Promise<Verification> {
  const { workspace } = token;
  const standing = await agentRights(services, workspace, token.spec.owner);
  const [agent] = standing?.line ?? [];
  if (!standing || !agent) throw await inactiveAgent(services, token);
  const { line, scopes, endsAt, person } = standing;
  const peer = await peerOf(services, agent);
  if (isBlocked(agent, peer)) {
    throw new MeshError('forbidden', 'The device of this agent was revoked by an administrator.');
  }
  return {
    caller: {
      ...inOneWorkspace(token, scopes, Math.min(token.spec.expiresAt ?? Number.POSITIVE_INFINITY, endsAt)),
      kind: 'agent',
      subject: `agent:${agent.name}`,
      id: agent.uid,
      name: agent.name,
      ...(person !== undefined && { person }),
      line: line.map(({ uid }) => uid),
    },
    restsOn: [
      ...line.map(({ uid }) => `AgentIdentity:${uid}`),
      ...(person === undefined ? [] : [`Account:${person}`, `Member:${person}`]),
      ...(peer ? [`MeshPeer:${peer.uid}`] : []),
    ],
  };
}

/**
 * Returns the caller of a grant as it stands now, by the id of its record: its access tokens come and go, and what goes on
 * meanwhile goes on until the grant or its agent ends.
 *
 * @throws MeshError `unauthenticated`
 */
export async function grantCaller(services: Reads, workspace: string, tokenId: string): Promise<Caller> {
  const token = await services.store.getById(workspace, 'Token', tokenId);
  if (!token?.spec.oauth || !(await isOfEpoch(services, token.spec.oauth))) throw unknownToken();
  const { caller } = await agentCaller(services, token);
  return { ...caller, audience: token.spec.oauth.resource };
}

/** The agent of an OAuth client, at one address and no longer than its access token counts. */
async function oauthCaller(services: Reads, token: TokenRecord): Promise<Verification> {
  const { oauth } = token.spec;
  if (!oauth?.access || !(await isOfEpoch(services, oauth))) throw unknownToken();
  const { caller, restsOn } = await agentCaller(services, token);
  const again = () => grantCaller(services, token.workspace, token.uid);
  return {
    caller: { ...caller, audience: oauth.resource, expiresAt: earlier(oauth.access, caller), again },
    restsOn: [...restsOn, `Account:${oauth.account}`],
  };
}

interface IssuedAgent {
  readonly workspace: string;
  /** Uid of the agent. */
  readonly agent: string;
  readonly access: Pick<IssuedAccess, 'resource' | 'issuedAt' | 'expiresAt'>;
}

/**
 * The agent of a client of another authorization server, at one address and no longer than its access token counts. Sessions
 * belong to the agent, for tokens come and go.
 *
 * @throws MeshError `unauthenticated`
 */
export async function issuedCaller(services: Reads, issued: IssuedAgent): Promise<Verification> {
  const { workspace, agent, access } = issued;
  const { caller, restsOn } = await agentCaller(services, { workspace, uid: agent, spec: { owner: agent } });
  const { signedOutAt = 0 } = (caller.person && (await accountById(services, caller.person))?.spec) || {};
  if (access.issuedAt < signedOutAt) {
    throw new MeshError(
      'unauthenticated',
      'Its person signed out everywhere since this token was issued: sign in again.',
    );
  }
  const again = async () => (await issuedCaller(services, issued)).caller;
  return {
    caller: { ...caller, audience: access.resource, expiresAt: earlier(access, caller), again },
    restsOn,
  };
}

function earlier({ expiresAt }: { readonly expiresAt: number }, caller: Pick<Caller, 'expiresAt'>): number {
  return Math.min(expiresAt, caller.expiresAt ?? Number.POSITIVE_INFINITY);
}

/** Tells whether the device of an agent was revoked, so that the agent does nothing until a person lets the device in again. */
export async function isBarred(services: Reads, agent: AgentRecord): Promise<boolean> {
  return isBlocked(agent, await peerOf(services, agent));
}

function isBlocked({ status }: AgentRecord, peer: PeerRecord | undefined): boolean {
  return status.barred === true || peer?.status.phase === 'revoked';
}

async function peerOf({ store }: Reads, { workspace, status }: AgentRecord): Promise<PeerRecord | undefined> {
  if (status.peerRef === undefined) return undefined;
  return await store.get(workspace, { kind: 'MeshPeer', name: status.peerRef });
}

/** Returns the error for an agent that may not act. While its peer awaits approval, the error says so. */
async function inactiveAgent({ store }: Reads, { workspace, spec }: OwnedToken): Promise<MeshError> {
  const agent = await store.getById(workspace, 'AgentIdentity', spec.owner);
  if (agent?.status.phase !== 'Pending') return unknownToken();
  return new MeshError('peer_pending', 'The peer of this agent waits for approval: its token works once it is let in.');
}

async function deviceCaller({ store }: Reads, token: TokenRecord): Promise<Verification> {
  const peer = await store.getById(token.workspace, 'MeshPeer', token.spec.owner);
  if (!peer || peer.status.phase === 'expired') throw unknownToken();
  // It may be let in again, so the device keeps its token and waits.
  if (peer.status.phase === 'revoked') throw new MeshError('forbidden', 'This device was revoked by an administrator.');
  const { expiresAt } = peer.spec;
  return {
    caller: {
      ...inOneWorkspace(token, NO_SCOPES, expiresAt === undefined ? token.spec.expiresAt : parseInstant(expiresAt)),
      kind: 'device',
      subject: `device:${peer.name}`,
      id: peer.uid,
      name: peer.name,
    },
    restsOn: [`MeshPeer:${peer.uid}`],
  };
}

/** A used-up token still names its caller: the device that spent it may register again with the same key. */
async function enrolmentCaller(_services: Reads, token: TokenRecord): Promise<Verification> {
  return {
    caller: {
      ...inOneWorkspace(token, NO_SCOPES, token.spec.expiresAt),
      kind: 'enrolment',
      subject: `token:${token.spec.name}`,
      id: token.uid,
      name: token.spec.name,
    },
    restsOn: [],
  };
}

function inOneWorkspace(
  { workspace, uid }: OwnedToken,
  scopes: ReadonlySet<Scope>,
  expiresAt: number | undefined,
): Omit<Caller, 'kind' | 'subject' | 'id' | 'name'> {
  return {
    tokenId: uid,
    workspaces: [workspace],
    scopesIn: (asked) => (asked === workspace ? scopes : NO_SCOPES),
    interactive: false,
    ...(expiresAt !== undefined && Number.isFinite(expiresAt) && { expiresAt }),
  };
}
