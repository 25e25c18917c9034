import { commitContext } from '../base/commit-context.ts';
import { formatDuration } from '../base/duration.ts';
import { MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { Op } from '../base/ports.ts';
import type { RecordDraft } from '../base/record.ts';
import type { Scope } from '../base/scope.ts';
import { formatInstant } from '../base/time.ts';
import { writtenRecord } from '../base/written-record.ts';
import { lookUp, lookUpById, notFoundAmong } from '../model/find.ts';
import type { EgressRule } from '../model/policy.ts';
import {
  type AgentClient,
  type AgentRecord,
  type AgentSpec,
  type AgentStatus,
  normalizeName,
  type PolicyPreset,
} from '../model/resources.ts';
import { newToken, withAddress } from '../model/token.ts';
import { tokenDraft } from '../model/token-record.ts';
import { sameValue } from '../model/value.ts';
import { ancestors, family, isLive, isOpen } from '../state/agent-tree.ts';
import type { NetworkServices } from '../state/services.ts';
import { DEFAULT_AGENT_SCOPES } from './agent-request.ts';
import { type DelegateRequest, narrowed, parseTtl } from './delegation.ts';
import { grantLimit, requireWithinLimit } from './grant-limit.ts';
import { requireGrantable } from './grants.ts';
import { storedRules } from './stored-rules.ts';

/** Labels and annotations of its record, where they are given. */
interface AgentMeta {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export interface RootAgentRequest extends AgentMeta {
  readonly scopes: readonly Scope[];
  /** Absent: 24 h, or as much of it as the API token that asks may grant. */
  readonly ttl?: string | undefined;
  readonly policyPreset: PolicyPreset;
  readonly reach: readonly EgressRule[];
  /** Uses that a join token made by it may have at most. */
  readonly tokenUses: number;
}

export type SubAgentRequest = AgentMeta & DelegateRequest;

/** An agent that is to be made: the writes, and the token that is shown once they are committed, and never again. */
export interface NewAgent {
  readonly ops: readonly Op[];
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly expiresAt: string;
}

/** Life of a root agent that asks for none. */
const DEFAULT_AGENT_TTL = '24h';
const SECOND_MS = 1_000;
const NAME_SCOPES = `an agent has ${DEFAULT_AGENT_SCOPES.join(', ')} unless scopes (--scopes) says otherwise; name those that you can give.`;

type AgentDraft = RecordDraft<'AgentIdentity'>;
export type AgentCall = CallContext<Pick<NetworkServices, 'store' | 'clock' | 'states' | 'keys' | 'settings'>>;
type AgentRead = CallContext<Pick<NetworkServices, 'states'>>;

/**
 * Makes a root agent; its token is the contract's parent agent token and an MCP bearer.
 *
 * @throws MeshError as {@link newRootAgent}
 */
export async function createRootAgent(context: AgentCall, request: RootAgentRequest) {
  const { services, workspace } = context;
  const { ops, id, name, token } = await newRootAgent(context, request);
  const commit = await services.store.commit(workspace, ops, commitContext(context, `create agent ${name}`));
  return {
    id,
    token,
    identity: writtenRecord(commit, { kind: 'AgentIdentity', uid: id }),
  };
}

/**
 * Issues the one-use enrolment token of a sub-agent, whose identity names its parent (docs/delegation.md).
 *
 * @param id uid or name of the caller's own agent, or `self`.
 * @throws MeshError as {@link newSubAgent}
 */
export async function delegate(context: AgentCall, id: string, request: SubAgentRequest) {
  const { services, workspace } = context;
  const { ops, name, token, expiresAt, parentRef } = await newSubAgent(context, id, request);
  await services.store.commit(workspace, ops, commitContext(context, `delegate to ${name}`));
  return { enrollmentToken: token, expiresAt, parentRef };
}

/**
 * @throws MeshError `conflict` when a living agent has the name; `forbidden` when it would hold more than its maker, or
 * outlive what the API token that makes it may grant.
 */
export async function newRootAgent(context: AgentCall, request: RootAgentRequest): Promise<NewAgent> {
  const { caller } = context;
  const { ops, draft, expiresAt } = await rootAgent(context, request);
  const { uid, name } = draft;
  const token = newToken('agt');
  const record = tokenDraft(token, { kind: 'agt', name, owner: uid, expiresAt, createdBy: caller.subject });
  return { ops: [...ops, create(record)], id: uid, name, token, expiresAt: draft.spec.expiresAt };
}

/**
 * Returns the writes that make a root agent without a token.
 *
 * @param client the OAuth client that is to act as it
 * @throws MeshError as {@link newRootAgent}
 */
export async function rootAgent(
  context: AgentCall,
  request: RootAgentRequest,
  client?: AgentClient,
): Promise<{ readonly ops: readonly Op[]; readonly draft: AgentDraft; readonly expiresAt: number }> {
  const { spec, expiresAt } = await rootSpec(context, request);
  const draft = agentDraft(request, spec, { phase: 'Active', depth: 0, ...(client && { client }) });
  const ops = [...(await freeName(context, draft.name, context.services.clock.now())), create(draft)];
  return { ops, draft, expiresAt };
}

/**
 * Returns what a root agent is granted, within what its maker may grant.
 *
 * @throws MeshError `forbidden`, `invalid_input`
 */
export async function rootSpec(
  context: AgentCall,
  request: Omit<RootAgentRequest, 'name'>,
): Promise<{ readonly spec: AgentSpec; readonly expiresAt: number }> {
  const { services, workspace, caller } = context;
  const isDefault = sameValue(request.scopes, DEFAULT_AGENT_SCOPES);
  const person = requireGrantable(caller, workspace, request.scopes, isDefault ? NAME_SCOPES : undefined);
  const now = services.clock.now();
  const limit = await grantLimit(services, workspace, caller);
  const ttl = request.ttl ?? defaultTtl(limit, now);
  const expiresAt = now + parseTtl(ttl);
  requireWithinLimit(expiresAt, limit, now);
  const { policyPreset, scopes, tokenUses } = request;
  const reach = await storedRules(context, request.reach, '/reach');
  const spec = {
    ttl,
    policyPreset,
    scopes,
    expiresAt: formatInstant(expiresAt),
    person: { id: person.id, name: person.name },
    ...(scopes.includes('tokens:write') && { tokenUses }),
    ...(reach.length > 0 && { reach }),
  };
  return { spec, expiresAt };
}

/** Returns the life of a root agent that asks for none, in whole seconds; at least one, which the limit then refuses. */
function defaultTtl(limit: number | undefined, now: number): string {
  if (limit === undefined) return DEFAULT_AGENT_TTL;
  const left = Math.max(SECOND_MS, limit - now);
  const standard = parseTtl(DEFAULT_AGENT_TTL);
  return left >= standard ? DEFAULT_AGENT_TTL : formatDuration(left - (left % SECOND_MS));
}

/**
 * @param id uid or name of the caller's own agent, or `self`.
 * @throws MeshError `forbidden` when the agent is not the caller's or the child would be wider than its parent.
 */
export async function newSubAgent(context: AgentCall, id: string, request: SubAgentRequest) {
  const { services, workspace, caller } = context;
  const parent = await ownAgent(context, id);
  const now = services.clock.now();
  if (!isLive(parent, now))
    throw new MeshError('forbidden', `The agent ${parent.name} has ended: it delegates no more.`);
  const expiresAt = narrowed(parent, request, caller, now);
  const { ttl, policyPreset, scopes } = request;
  const egress = await storedRules(context, request.egress, '/egress');
  const parentRef = { name: parent.name, namespace: await namespaceOf(services, workspace) };
  const draft = agentDraft(
    request,
    { parentRef, ttl, policyPreset, scopes, expiresAt: formatInstant(expiresAt), ...(egress.length > 0 && { egress }) },
    { phase: 'Pending', depth: parent.status.depth + 1 },
  );
  const { uid, name } = draft;
  const token = newToken('dlg', services.keys.controlKeyId);
  const createdBy = caller.subject;
  const record = tokenDraft(token, { kind: 'dlg', name, owner: uid, expiresAt, usageLimit: 1, createdBy });
  // The check makes a revocation of the parent at the same moment win.
  const check: Op = { op: 'check', key: { kind: 'AgentIdentity', name: parent.name }, revision: parent.revision };
  const ops = [check, ...(await freeName(context, name, now)), create(draft), create(record)];
  const shown = withAddress(token, services.settings);
  return { ops, id: uid, name, token: shown, expiresAt: draft.spec.expiresAt, parentRef };
}

/** An agent by uid or name. @throws MeshError `not_found` */
export async function findAgent({ services, workspace }: AgentRead, id: string): Promise<AgentRecord> {
  const { agents } = await services.states.current(workspace);
  const found = lookUp(agents, id) ?? lookUp(agents, normalizeName(id));
  if (found) return found;
  throw notFoundAmong(agents, 'agent', id);
}

/**
 * An agent that the caller may read: any with `network:read`; without it an agent reads itself (`self`), its ancestors and
 * its sub-agents.
 *
 * @throws MeshError `forbidden` or `not_found`
 */
export async function readableAgent(context: AgentRead, id: string): Promise<AgentRecord> {
  const { services, workspace, caller } = context;
  const isAgent = caller.kind === 'agent';
  const wanted = isAgent && id === 'self' ? caller.id : id;
  if (caller.scopesIn(workspace).has('network:read')) return findAgent(context, wanted);
  const state = await services.states.current(workspace);
  const self = isAgent ? lookUpById(state.agents, caller.id) : undefined;
  const line = self ? [...family(state, self), ...ancestors(state, self)] : [];
  const found = lookUp(state.agents, wanted);
  if (found && line.includes(found)) return found;
  throw new MeshError('forbidden', 'Without the scope network:read an agent reads itself and its own line only.');
}

/** The caller's own agent. @throws MeshError `forbidden` for another, whether there is one or not */
export async function ownAgent(context: AgentCall, id: string): Promise<AgentRecord> {
  const { caller } = context;
  if (caller.kind !== 'agent') throw new MeshError('forbidden', 'Only an agent delegates, with its own agent token.');
  const agent = await findAgent(context, id === 'self' ? caller.id : id).catch(() => undefined);
  if (agent && agent.uid === caller.id) return agent;
  throw new MeshError('forbidden', `${id} is not your agent: you delegate as ${caller.name} only.`);
}

/** An ended identity gives its name free; a living one keeps it. */
async function freeName(context: AgentCall, name: string, now: number): Promise<Op[]> {
  const taken = await findAgent(context, name).catch(() => undefined);
  if (!taken) return [];
  if (isLive(taken, now))
    throw new MeshError('conflict', `An agent ${taken.name} exists already: choose another name.`);
  // Its records are found by its identity, so that stays until they have gone.
  if (isOpen(taken)) throw new MeshError('conflict', `The agent ${taken.name} is just ending: try again in a moment.`);
  // Its record keeps a client out that another authorization server would let in again: a person says when that ends.
  if (context.caller.kind === 'agent' && taken.status.client?.issuer !== undefined)
    throw new MeshError('conflict', `The name ${taken.name} is kept for people: choose another name.`);
  return [{ op: 'delete', key: { kind: 'AgentIdentity', name: taken.name }, revision: taken.revision }];
}

function agentDraft(
  { name, labels = {}, annotations = {} }: AgentMeta,
  spec: AgentSpec,
  status: AgentStatus,
): AgentDraft {
  return {
    kind: 'AgentIdentity',
    name: normalizeName(name),
    uid: newId('agt'),
    labels,
    annotations,
    spec,
    status,
    unique: [],
  };
}

async function namespaceOf(services: Pick<NetworkServices, 'store'>, workspace: string): Promise<string> {
  const record = await services.store.getById('w_system', 'Workspace', workspace);
  return record?.spec.namespace ?? workspace;
}

function create(record: RecordDraft): Op {
  return { op: 'create', record };
}
