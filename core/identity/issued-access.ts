import { createHmac } from 'node:crypto';
import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { PendingApproval } from '../base/operation.ts';
import { StoreError } from '../base/ports.ts';
import { ROLE_SCOPES, type Scope } from '../base/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import {
  type AuthorizationServer,
  type GrantedAgent,
  type IssuedAccess,
  issuedClientId,
  offeredScopes,
} from '../model/authorization-server.ts';
import { hasClaim } from '../model/issuers.ts';
import { agentClientKey, publicResources } from '../model/oauth.ts';
import type { AgentRecord } from '../model/resources.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, accountById } from './accounts.ts';
import { MAKES_ROOT_AGENTS } from './agent-request.ts';
import type { AgentCall } from './agents.ts';
import type { Verification } from './credential-cache.ts';
import { entryOf, withGroups } from './directory.ts';
import { NO_SCOPES } from './grants.ts';
import { issuedAccount } from './issuer-accounts.ts';
import { warnOfMissing } from './issuer-grants.ts';
import { roleOf } from './members.ts';
import { agentOfClient, isGranted } from './oauth-consent.ts';
import { issuedCaller } from './token-caller.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

export type IssuedServices = Pick<
  NetworkServices,
  'store' | 'clock' | 'log' | 'states' | 'keys' | 'settings' | 'oauthRequests' | 'accessTokens'
>;

/**
 * Lets the client of a request in, as a call of its person would.
 *
 * @returns that a second person has to approve; undefined once it is done
 */
export type LetClientIn = (
  context: Omit<AgentCall, 'services'>,
  request: GrantedAgent & { readonly id: string },
) => Promise<PendingApproval | undefined>;

/** The refusal of somebody whose access token counts, and whom nothing lets act here. */
export class NotAdmitted extends MeshError {
  /** True where another scope of the issuer may let them in. */
  readonly isOfScopes: boolean;

  constructor(message: string, { isOfScopes = false, ...extra }: { isOfScopes?: boolean; workflow_id?: string } = {}) {
    super('forbidden', message, extra);
    this.isOfScopes = isOfScopes;
  }
}

export interface IssuedBearer {
  readonly bearer: string;
  readonly origin: string;
  /** Absent where nothing may be made or changed: the agent counts as it is. */
  readonly letIn: LetClientIn | undefined;
}

/** Where the person of a token has agents, and what the grant says that one may. */
interface Place {
  readonly account: AccountRecord;
  readonly person: Caller;
  readonly workspace: string;
  readonly consent: GrantedAgent;
  /** As in a verification: what the directory says of the person. */
  readonly restsOn: readonly string[];
}

const REQUEST_MS = 600_000;
/** In each round another request of the same client came between. */
const MAX_ROUNDS = 5;

/**
 * Returns the agent that an access token of another authorization server proves: the one that the client has from its person,
 * made or changed as the first grant says that fits.
 *
 * @throws MeshError `unauthenticated` for a token that does not count, `unavailable` where its issuer does not answer
 * @throws NotAdmitted for one that counts, whose person or client is not let in
 */
export async function verifyIssuedAccess(
  services: IssuedServices,
  directory: WorkspaceDirectory,
  { bearer, origin, letIn }: IssuedBearer,
): Promise<Verification> {
  const { accessTokens, settings } = services;
  const server = settings.authorizationServer;
  if (!accessTokens || !server) throw new TypeError('There is no other authorization server.');
  const access = await accessTokens.verify(bearer);
  const place = await placeOf(services, directory, server, access);
  // Another control plane may have made the agent, or ended it.
  await services.store.caughtUp([place.workspace]);
  const key = agentClientKey(issuedClientId(server.issuer, access.clientId), access.resource);
  const agent = await (letIn
    ? admitted(services, server, { access, place, key, origin, letIn })
    : agentOfClient({ services, workspace: place.workspace, caller: place.person }, key));
  if (!agent) throw new NotAdmitted('The agent of this client has ended.');
  const { caller, restsOn } = await issuedCaller(services, { workspace: place.workspace, agent: agent.uid, access });
  return { caller, restsOn: [...restsOn, `Workspace:${place.workspace}`, ...place.restsOn] };
}

/** @returns the place that the first grant gives which fits the claims, and where the person is a member */
async function placeOf(
  services: IssuedServices,
  directory: WorkspaceDirectory,
  server: AuthorizationServer,
  { subject, claims: told }: IssuedAccess,
): Promise<Place> {
  const { issuer, grants } = server;
  const account = await issuedAccount(services, { issuer, subject });
  if (!account) {
    throw new NotAdmitted(`The person of this token has no account here: sign in on the dashboard by ${issuer} first.`);
  }
  if (account.spec.disabled || account.spec.leaving) {
    throw new NotAdmitted(`The account ${account.name} is disabled: ask an administrator.`);
  }
  const { claims, restsOn } = await followed(services, server, account, told);
  const fitting = grants.filter((grant) => hasClaim(claims, grant));
  if (fitting.length === 0) {
    const isOfScopes = offeredScopes(server).length > 0;
    throw new NotAdmitted('No scope, group or other claim of this token is let in here: ask an administrator.', {
      isOfScopes,
    });
  }
  for (const grant of fitting) {
    const { workspace: slug, scopes, ttl, policyPreset, reach } = grant;
    const workspace = (await directory.find(slug))?.uid;
    if (workspace === undefined) warnOfMissing(services, { name: `app.oauth, ${issuer}`, grants: [grant] }, new Set());
    const person = workspace === undefined ? undefined : await personIn(services, workspace, account);
    if (workspace === undefined || !person) continue;
    if (!person.scopesIn(workspace).has(MAKES_ROOT_AGENTS)) {
      throw new NotAdmitted(
        `${account.name} may have no agents in ${slug}, for that needs the scope ${MAKES_ROOT_AGENTS}: ask an administrator.`,
      );
    }
    return { account, person, workspace, consent: { scopes, ttl, policyPreset, reach }, restsOn };
  }
  const slugs = [...new Set(fitting.map(({ workspace }) => workspace))].join(', ');
  throw new NotAdmitted(`${account.name} is no member of ${slugs}: ask an administrator.`);
}

/**
 * Returns the claims of somebody as the directory of the issuer has them, where it has one: a token may be a day old, and a
 * client may have had a claim of it chosen.
 *
 * @throws NotAdmitted for who is not in the directory
 */
async function followed(
  services: IssuedServices,
  { issuer }: AuthorizationServer,
  account: AccountRecord,
  told: IssuedAccess['claims'],
): Promise<{ readonly claims: IssuedAccess['claims']; readonly restsOn: readonly string[] }> {
  const rules = services.settings.issuers?.find((one) => one.issuer === issuer);
  if (!rules?.directory) return { claims: told, restsOn: [] };
  const subject = account.spec.issued?.subject ?? '';
  const user = await entryOf(services, rules, { subject, claims: {} }, account);
  if (!user?.spec.active) {
    throw new NotAdmitted(`${rules.title} does not tell this control plane of ${account.name}: ask an administrator.`);
  }
  const restsOn = [`DirectoryUser:${user.uid}`, ...user.spec.groups.map((uid) => `DirectoryGroup:${uid}`)];
  return { claims: await withGroups(services, user, told), restsOn };
}

/** Returns a person as they would ask on the dashboard themselves; undefined where they are no member. */
async function personIn(
  services: IssuedServices,
  workspace: string,
  account: AccountRecord,
): Promise<Caller | undefined> {
  const { uid, name, spec } = account;
  const role = spec.role === 'platform_admin' ? spec.role : await roleOf(services, workspace, account);
  if (role === undefined) return undefined;
  const held: ReadonlySet<Scope> = ROLE_SCOPES[role];
  return {
    kind: 'user',
    subject: `user:${name}`,
    id: uid,
    name,
    person: uid,
    tokenId: '',
    interactive: true,
    workspaces: [workspace],
    scopesIn: (asked) => (asked === workspace ? held : NO_SCOPES),
    async again() {
      const current = await accountById(services, uid);
      const person = current && !current.spec.disabled ? await personIn(services, workspace, current) : undefined;
      if (!person) throw new NotAdmitted(`${name} is no member any more: ask an administrator.`);
      return person;
    },
  };
}

interface Admission {
  readonly access: IssuedAccess;
  readonly place: Place;
  /** Identifies the client at the resource, as its agents have it. */
  readonly key: string;
  readonly origin: string;
  readonly letIn: LetClientIn;
}

/** @returns the agent of a client, as its grant says */
async function admitted(
  services: IssuedServices,
  server: AuthorizationServer,
  admission: Admission,
): Promise<AgentRecord | undefined> {
  const { place, key, origin, letIn } = admission;
  const { person: caller, workspace, consent } = place;
  const context = {
    ...{ caller, workspace, origin, requestId: newId('r'), face: 'rest' as const },
    signal: new AbortController().signal,
  };
  const find = () => agentOfClient({ services, workspace, caller }, key);
  for (let round = 1; ; round += 1) {
    if (round > 1) await services.store.caughtUp([workspace]);
    const agent = await find();
    if (!agent) await requireNotRevoked(services, server, admission);
    const id = await ask(services, server, admission);
    try {
      const pending = await letIn(context, { id, ...consent });
      if (!pending) return await find();
      // Whoever has an agent goes on as it while a longer life of it is decided about.
      if (agent && (await isGranted({ ...context, services }, agent, consent))) return agent;
      throw new NotAdmitted(pending.message, { workflow_id: pending.workflow_id });
    } catch (error) {
      if (!isTaken(error)) throw error;
      if (round === MAX_ROUNDS)
        throw new MeshError('unavailable', `The agent of this client cannot be made: ${error.message}`);
    }
  }
}

/**
 * Saves a request of a client, by which its person lets it in.
 *
 * @returns its id, which is always the same, so that the same client waits for a second person once
 */
async function ask(
  { keys, clock, oauthRequests }: IssuedServices,
  { issuer }: AuthorizationServer,
  { access, place, key, origin }: Admission,
): Promise<string> {
  const { account, workspace, consent } = place;
  const id = createHmac('sha256', keys.controlPrivateKey.reveal())
    .update(JSON.stringify(['mesh/oauth/issued/v1', key, account.uid, workspace]))
    .digest('base64url');
  const { clientId, resource } = access;
  const name = lineOfText(TEXT_LIMITS.title).safeParse(clientId).data ?? 'client';
  const client = { id: issuedClientId(issuer, clientId), name, host: new URL(issuer).host };
  const request = { client, resource, scopes: consent.scopes, issuer, payload: {} };
  await oauthRequests.save(id, request, clock.now() + REQUEST_MS, origin);
  return id;
}

/**
 * Whoever revokes an agent shuts its client out until its person signs in at the issuer anew: the issuer gives tokens as before.
 *
 * @throws NotAdmitted
 */
async function requireNotRevoked(
  { store, states, settings }: IssuedServices,
  { issuer }: AuthorizationServer,
  { access: { clientId, signedInAt = 0 }, place: { workspace, account } }: Admission,
): Promise<void> {
  const { agents } = await states.current(workspace);
  // A client chooses for which address it asks for a token.
  const client = issuedClientId(issuer, clientId);
  const keys = new Set(publicResources(settings).map((resource) => agentClientKey(client, resource)));
  for (const { kind, name, status, spec } of agents.values()) {
    if (status.phase !== 'Revoked' || !keys.has(status.client?.key ?? '') || spec.person?.id !== account.uid) continue;
    const revokedAt = (await store.history(workspace, { kind, name })).at(-1)?.at ?? Number.POSITIVE_INFINITY;
    if (signedInAt > revokedAt) continue;
    throw new NotAdmitted(
      `The agent ${name} of this client was revoked: sign in at ${issuer} anew to let it in again.`,
    );
  }
}

function isTaken(error: unknown): error is StoreError | MeshError {
  const isConflict = error instanceof MeshError && error.code === 'conflict';
  return isConflict || (error instanceof StoreError && (error.code === 'conflict' || error.code === 'already_exists'));
}
