import { randomBytes } from 'node:crypto';
import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { requireSession } from '../base/require-session.ts';
import type { Scope } from '../base/scope.ts';
import { TEXT_LIMITS } from '../base/text.ts';
import { parseInstant } from '../base/time.ts';
import type { GrantedAgent } from '../model/authorization-server.ts';
import { lookUp } from '../model/find.ts';
import { agentClientKey, DEFAULT_OAUTH_SCOPES, type OAuthClient, type OAuthGrant } from '../model/oauth.ts';
import type { OAuthRequest } from '../model/oauth-requests.ts';
import { type AgentClient, type AgentRecord, type AgentSpec, normalizeName } from '../model/resources.ts';
import { tokenName } from '../model/token-record.ts';
import { sameValue } from '../model/value.ts';
import { decidedRequest, unknownRequest } from '../model/waiting-requests.ts';
import { isLive } from '../state/agent-tree.ts';
import type { NetworkServices } from '../state/services.ts';
import { accountById } from './accounts.ts';
import { type AgentCall, type RootAgentRequest, rootAgent, rootSpec } from './agents.ts';
import { parseTtl } from './delegation.ts';
import { newGrantId, uniqueOf } from './oauth-grants.ts';

/** Bounds that a person gives a client, as far as they say; what they leave out stays as the agent has it. */
export type Consent = {
  readonly [K in 'ttl' | 'policyPreset' | 'reach']?: RootAgentRequest[K] | undefined;
} & {
  /** Absent: of those that the client asked for, the ones to read and plan. */
  readonly scopes?: readonly Scope[] | undefined;
};

type ConsentCall = AgentCall & { readonly services: Pick<NetworkServices, 'oauthRequests'> };
type DecisionCall = CallContext<Pick<NetworkServices, 'oauthRequests' | 'signInRequests'>>;

/** A second person may be asked for so long. */
const KEPT_MS = 24 * 3_600_000;
/** Grants of one agent, such as one for each machine that its client runs on; the oldest gives way. */
const MAX_GRANTS = 10;
const JOIN_USES = 1;

/**
 * Lets an OAuth client in as a root agent of the caller: the one that the client has at this address, changed, or a new one.
 *
 * @returns where the browser goes on, unless a device asked
 * @throws MeshError `not_found` for an unknown request; as the makers of root agents do
 */
export async function allowClient(
  context: ConsentCall,
  id: string,
  consent: Consent,
): Promise<{ readonly agent: string; readonly url?: string }> {
  const caller = requireSession(context.caller);
  const { services, workspace } = context;
  const request = await findRequest(context, id);
  if (request.decision) throw decidedRequest();
  const scopes = grantedScopes(request, consent);
  await services.oauthRequests.keep(id, services.clock.now() + KEPT_MS);
  const { client, resource, issuer } = request;
  const key = agentClientKey(client.id, resource);
  const existing = await agentOfClient(context, key);
  const settled = settledFor(existing, { ...consent, scopes });
  const shown = { key, name: client.name, host: client.host, resource, ...(issuer !== undefined && { issuer }) };
  const { ops, uid, name } = existing
    ? { ops: await changed(context, existing, settled), uid: existing.uid, name: existing.name }
    : await made(context, client, shown, settled);
  if (issuer !== undefined) {
    const reason = `let the client ${client.name} of ${issuer} act as the agent ${name}, as app.oauth.grants says`;
    if (ops.length > 0) await services.store.commit(workspace, ops, commitContext(context, reason));
    await services.oauthRequests.remove(id);
    return { agent: name };
  }
  const { grantEpoch } = (await accountById(services, caller.id))?.spec ?? {};
  const grant: OAuthGrant = {
    id: newGrantId(),
    clientId: client.id,
    account: caller.id,
    resource,
    scopes,
    ...(grantEpoch !== undefined && { epoch: grantEpoch }),
    grantedAt: services.clock.now(),
  };
  const token = newId('tok');
  const record = {
    kind: 'Token',
    name: tokenName('oat', token),
    uid: token,
    labels: {},
    annotations: {},
    spec: { kind: 'oat', name, owner: uid, labels: {}, usedCount: 0, createdBy: caller.subject, oauth: grant },
    status: {},
    unique: uniqueOf(grant),
  } as const;
  const all: Op[] = [...ops, ...(await surplus(context, uid)), { op: 'create', record }];
  const reason = `let the OAuth client ${client.name} (${client.host}) act as the agent ${name}`;
  await services.store.commit(workspace, all, commitContext(context, reason));
  const url = await goOn((key) => services.oauthRequests.decide(id, { account: caller.id, grantId: grant.id, key }));
  return { agent: name, ...url };
}

/** Refuses a client or a command line. @returns where the browser goes on. @throws MeshError `not_found` */
export async function denyRequest({ services, caller }: DecisionCall, id: string): Promise<{ readonly url?: string }> {
  const { id: account } = requireSession(caller);
  const { oauthRequests, signInRequests } = services;
  if (await signInRequests.find(id)) return goOn((key) => signInRequests.decide(id, { key }));
  return goOn((key) => oauthRequests.decide(id, { account, key }));
}

/** Returns a request that waits. @throws MeshError `not_found` */
export async function findRequest({ services }: Pick<ConsentCall, 'services'>, id: string): Promise<OAuthRequest> {
  const request = await services.oauthRequests.find(id);
  if (!request) throw unknownRequest();
  return request;
}

/** Returns the living agent that a client has from the caller. */
export async function agentOfClient(
  { services, workspace, caller }: Pick<AgentCall, 'services' | 'workspace' | 'caller'>,
  key: string,
): Promise<AgentRecord | undefined> {
  const { agents } = await services.states.current(workspace);
  const now = services.clock.now();
  for (const agent of agents.values()) {
    if (agent.status.client?.key === key && agent.spec.person?.id === caller.id && isLive(agent, now)) return agent;
  }
  return undefined;
}

/** Returns true if an agent has just what a consent gives. */
export async function isGranted(call: AgentCall, agent: AgentRecord, consent: GrantedAgent): Promise<boolean> {
  const { spec } = await rootSpec(call, settledFor(agent, consent));
  return sameValue(authorityOf(agent.spec), authorityOf(spec));
}

/** Returns what a consent gives an agent, with what it leaves out as the agent has it. */
function settledFor(
  existing: AgentRecord | undefined,
  { scopes, ...consent }: Consent & { readonly scopes: readonly Scope[] },
): Omit<RootAgentRequest, 'name'> {
  const { ttl, policyPreset = 'inherit', reach = [] }: Partial<AgentSpec> = existing?.spec ?? {};
  return {
    ttl: consent.ttl ?? ttl,
    policyPreset: consent.policyPreset ?? policyPreset,
    reach: consent.reach ?? reach,
    scopes,
    tokenUses: JOIN_USES,
  };
}

/** The browser that decided gets the key, and no other: a request that somebody else began does not go on with it. */
export async function goOn(
  decide: (key: string) => Promise<{ readonly returnTo?: string | undefined }>,
): Promise<{ readonly url?: string }> {
  const key = randomBytes(16).toString('base64url');
  const { returnTo } = await decide(key);
  if (returnTo === undefined) return {};
  const url = new URL(returnTo);
  url.searchParams.set('key', key);
  return { url: url.href };
}

/** @throws MeshError `invalid_input` for more than the client asked for, or nothing */
function grantedScopes({ scopes: asked }: OAuthRequest, { scopes }: Consent): readonly Scope[] {
  const granted = scopes ?? asked.filter((scope) => DEFAULT_OAUTH_SCOPES.includes(scope));
  const wider = granted.filter((scope) => !asked.includes(scope));
  if (wider.length === 0 && granted.length > 0) return granted;
  const detail =
    wider.length > 0
      ? `The client did not ask for ${wider.join(', ')}: leave it out.`
      : 'Name at least one of the scopes that the client asked for, or deny the request.';
  throw invalidInput([{ pointer: '/scopes', detail }], detail);
}

async function made(
  context: AgentCall,
  client: OAuthClient,
  shown: AgentClient,
  consent: Omit<RootAgentRequest, 'name'>,
): Promise<{ readonly ops: readonly Op[]; readonly uid: string; readonly name: string }> {
  const name = await freeAgentName(context, client.name);
  const { ops, draft } = await rootAgent(context, { ...consent, name }, shown);
  return { ops, uid: draft.uid, name: draft.name };
}

/** An agent that is granted just what it has keeps its end while half of its life is left: nobody has to approve that again. */
async function changed(
  { services, ...call }: AgentCall,
  agent: AgentRecord,
  consent: Omit<RootAgentRequest, 'name'>,
): Promise<readonly Op[]> {
  const { spec } = await rootSpec({ services, ...call }, consent);
  const left = parseInstant(agent.spec.expiresAt) - services.clock.now();
  if (sameValue(authorityOf(agent.spec), authorityOf(spec)) && left * 2 >= parseTtl(agent.spec.ttl)) return [];
  return [{ op: 'update', record: { ...draftOf(agent), spec }, revision: agent.revision }];
}

function authorityOf({ ttl, policyPreset, scopes, reach = [] }: AgentSpec) {
  return { ttl, policyPreset, scopes: scopes.toSorted(), reach };
}

/** Returns a name that no agent has, of the client and its person. @throws MeshError `conflict` where there are too many */
async function freeAgentName({ services, workspace, caller }: AgentCall, client: string): Promise<string> {
  const { agents } = await services.states.current(workspace);
  const now = services.clock.now();
  // A user name may be an address; the name of an agent has no such characters.
  const person = caller.name.replaceAll('@', '-').replaceAll('+', '-');
  const base = normalizeName(`${slugOf(client) || 'client'}-${person}`).slice(0, TEXT_LIMITS.name - 3);
  for (let count = 1; count < 100; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    const taken = lookUp(agents, name);
    if (!taken || !isLive(taken, now)) return name;
  }
  throw new MeshError('conflict', `There are too many agents named after ${base}: revoke some of them.`);
}

function slugOf(text: string): string {
  const words = text
    .normalize('NFKD')
    .toLowerCase()
    .slice(0, 30)
    .match(/[a-z0-9]+/g);
  return words?.join('-') ?? '';
}

/** The oldest grants of an agent, as many as have to go for another one. */
async function surplus({ services, workspace }: AgentCall, agent: string): Promise<Op[]> {
  const { items } = await services.store.list(workspace, 'Token');
  const own = items.filter(({ spec }) => spec.kind === 'oat' && spec.owner === agent);
  return own
    .toSorted((a, b) => b.createdAt - a.createdAt)
    .slice(MAX_GRANTS - 1)
    .map(({ kind, name }): Op => ({ op: 'delete', key: { kind, name } }));
}
