import { SYSTEM_WORKSPACE } from '../../base/ids.ts';
import type { StoredRecord } from '../../base/record.ts';
import { ROLE_SCOPES } from '../../base/scope.ts';
import { formatInstant, hasEnded } from '../../base/time.ts';
import { commitAt } from '../../history/commits-between.ts';
import type { AccountRecord } from '../../identity/accounts.ts';
import { expandScopes } from '../../identity/grants.ts';
import { isOfOneAccount, type MemberRecord } from '../../identity/members.ts';
import { grantTexts } from '../../model/grants.ts';
import type { AgentRecord, PeerRecord } from '../../model/resources.ts';
import { isSpent, type TokenRecord } from '../../model/token-record.ts';
import {
  SCHEDULE_NAMES,
  type ScheduleName,
  scheduleIn,
  type WorkspaceRecord,
  workspaceById,
} from '../../model/workspaces.ts';
import type { HistoryServices } from '../../state/services.ts';
import type { NetworkState } from '../../state/state.ts';
import { webhookOwner } from '../inventory.ts';
import type { ItemFacts } from './review-record.ts';

/** Entries of the audit log, from its end on, in which uses are looked for. */
const LOOKED_AT = 5_000;
/** Longer than any line that delegation makes. */
const MAX_LINE = 8;

/** The records that items are made from, read once. */
interface ReviewSources {
  readonly state: NetworkState;
  readonly tokens: ReadonlyMap<string, TokenRecord>;
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  /** Id of an account by its user name. */
  readonly ids: ReadonlyMap<string, string>;
  /** When an actor is last on record, ms. */
  readonly used: ReadonlyMap<string, number>;
  readonly now: number;
}

/**
 * Returns the access that each record holds in a workspace now, ordered by type and id: people, platform administrators,
 * agents, tokens, webhooks, schedules, devices. Records that have ended or are used up hold none.
 */
export async function accessItems(services: HistoryServices, workspace: string): Promise<ItemFacts[]> {
  const { store, states, clock } = services;
  const [state, tokens, accounts, members, used, webhooks, workspaceRecord] = await Promise.all([
    states.current(workspace),
    store.list(workspace, 'Token'),
    store.list(SYSTEM_WORKSPACE, 'Account'),
    store.list(workspace, 'Member'),
    usesOf(services, workspace),
    store.list(workspace, 'Webhook'),
    workspaceById(services, workspace),
  ]);
  const known: ReviewSources = {
    state,
    tokens: new Map(tokens.items.map((token) => [token.uid, token])),
    accounts: new Map(accounts.items.map((account) => [account.uid, account])),
    ids: new Map(accounts.items.map(({ name, uid }) => [name, uid])),
    used,
    now: clock.now(),
  };
  const people = await Promise.all(members.items.map((member) => personItem(services, member, known)));
  return [
    ...people,
    ...accounts.items.flatMap((account) => administratorItem(account, known)),
    ...[...state.agents.values()].flatMap((agent) => agentItem(agent, known)),
    ...tokens.items.flatMap((token) => tokenItem(token, known)),
    ...(await Promise.all(webhooks.items.map((webhook) => webhookItem(services, webhook, known)))),
    ...SCHEDULE_NAMES.flatMap((name) => scheduleItem(name, workspaceRecord, known)),
    ...[...state.peers.values()].flatMap((peer) => deviceItem(peer, known)),
  ];
}

async function usesOf({ store }: HistoryServices, workspace: string): Promise<ReadonlyMap<string, number>> {
  const used = new Map<string, number>();
  for (const { actor, at } of await store.audit(workspace, { limit: LOOKED_AT })) {
    if (!used.has(actor)) used.set(actor, at);
  }
  return used;
}

async function personItem(services: HistoryServices, member: MemberRecord, known: ReviewSources): Promise<ItemFacts> {
  const { name, uid, workspace, revision, createdAt } = member;
  const { role } = member.spec;
  const commit = await commitAt(services, workspace, revision);
  const account = isOfOneAccount(member) ? uid : known.ids.get(name);
  return {
    id: `Member/${uid}`,
    type: 'person',
    name,
    facts: {
      role,
      since: formatInstant(commit?.at ?? createdAt),
      ...(commit && { granted_by: commit.actor }),
    },
    told: lastUse(known.used.get(`user:${name}`)),
    scopes: Object.hasOwn(ROLE_SCOPES, role) ? [...ROLE_SCOPES[role]] : [],
    people: account === undefined ? [] : [account],
  };
}

/** Each by name: who reviews the access to a workspace has to be able to say of each that they should have it. */
function administratorItem({ name, uid, spec, createdAt }: AccountRecord, { used }: ReviewSources): ItemFacts[] {
  if (spec.role !== 'platform_admin' || spec.disabled) return [];
  return [
    {
      id: `Account/${uid}`,
      type: 'platform administrator',
      name,
      facts: { role: 'platform_admin', account_since: formatInstant(createdAt) },
      told: lastUse(used.get(`user:${name}`)),
      scopes: [...ROLE_SCOPES.platform_admin],
      people: [uid],
    },
  ];
}

function agentItem(agent: AgentRecord, known: ReviewSources): ItemFacts[] {
  const { name, uid, spec, status, createdAt } = agent;
  if ((status.phase !== 'Active' && status.phase !== 'Pending') || hasEnded(spec, known.now)) return [];
  const line = lineOf(agent, known.state);
  const person = line.at(-1)?.spec.person;
  return [
    {
      id: `AgentIdentity/${uid}`,
      type: 'agent',
      name,
      facts: {
        ...factsOf(agent),
        preset: spec.policyPreset,
        since: formatInstant(createdAt),
        granted_by: spec.parentRef ? `agent:${spec.parentRef.name}` : person ? `user:${person.name}` : 'unknown',
        line: [...line.slice(1).map((one) => `agent:${one.name}`), ...(person ? [`user:${person.name}`] : [])].join(
          ' < ',
        ),
        ends: spec.expiresAt,
      },
      told: lastUse(known.used.get(`agent:${name}`)),
      scopes: [...expandScopes(spec.scopes)],
      people: person ? [person.id] : [],
    },
  ];
}

/** The agent and its ancestors, nearest first. */
function lineOf(agent: AgentRecord, { agents }: NetworkState): AgentRecord[] {
  const line = [agent];
  for (let at = agent; at.spec.parentRef && line.length < MAX_LINE; ) {
    const parent = agents.get(at.spec.parentRef.name);
    if (!parent) break;
    line.push(parent);
    at = parent;
  }
  return line;
}

/** Returns the declared grants of a record. Scopes are a field of their own, and the preset has its public name. */
function factsOf(record: AgentRecord | TokenRecord | PeerRecord): Readonly<Record<string, string>> {
  const { scopes: _, policy_preset, usage_limit, ...texts } = grantTexts(record);
  return texts;
}

function tokenItem(token: TokenRecord, known: ReviewSources): ItemFacts[] {
  const { uid, spec, createdAt } = token;
  const { accounts, now } = known;
  const { kind, name, expiresAt, createdBy, owner, scopes = [], usageLimit, usedCount } = spec;
  if ((kind !== 'api' && kind !== 'join') || hasEnded(spec, now) || isSpent(spec)) return [];
  const account = accounts.get(owner);
  // The account has another password or role since, or has gone: the token speaks for nobody.
  if (kind === 'api' && (!account || account.spec.disabled || account.spec.epoch !== spec.epoch)) return [];
  const common = { since: formatInstant(createdAt), granted_by: createdBy };
  const ends = { ends: expiresAt === undefined ? 'never' : formatInstant(expiresAt) };
  const creator = makerOf(spec, known);
  return [
    {
      id: `Token/${uid}`,
      type: kind === 'api' ? 'API token' : 'join token',
      name,
      facts: {
        ...common,
        ...ends,
        ...factsOf(token),
        ...(kind === 'join' && { uses: String(usageLimit ?? 'any') }),
      },
      told: kind === 'join' ? { used: String(usedCount) } : lastUse(undefined),
      scopes: [...scopes],
      people: kind === 'api' ? [owner] : creator === undefined ? [] : [creator],
    },
  ];
}

const NOBODY = 'nobody, who made it has left';

async function webhookItem(
  services: HistoryServices,
  { uid, spec, createdAt }: StoredRecord<'Webhook'>,
  { ids }: ReviewSources,
): Promise<ItemFacts> {
  const owner = await webhookOwner(services, spec);
  const person = owner === undefined ? undefined : ids.get(owner);
  const host = URL.parse(spec.url)?.host ?? '';
  return {
    id: `Webhook/${uid}`,
    type: 'webhook',
    name: spec.description || host,
    facts: {
      // Paths and queries of webhooks often are secrets.
      host,
      events: spec.events.join(', '),
      enabled: String(spec.enabled),
      since: formatInstant(createdAt),
      granted_by: spec.createdBy,
      owner: owner ?? NOBODY,
    },
    told: {},
    scopes: [],
    people: person === undefined ? [] : [person],
  };
}

function scheduleItem(name: ScheduleName, { spec }: WorkspaceRecord, { accounts }: ReviewSources): ItemFacts[] {
  const schedule = scheduleIn(spec.settings, name);
  if (!schedule) return [];
  const owner = accounts.get(spec.scheduleOwners?.[name]?.id ?? '');
  return [
    {
      id: `Schedule/${name}`,
      type: 'schedule',
      name,
      facts: {
        ...Object.fromEntries(Object.entries(schedule).map(([field, value]) => [field, String(value)])),
        owner: owner?.name ?? NOBODY,
      },
      told: {},
      scopes: [],
      people: owner ? [owner.uid] : [],
    },
  ];
}

/** Id of the person who made a token, also by an agent, or who took it over. */
function makerOf(
  { owner, createdBy, issuedBy }: Partial<Pick<TokenRecord['spec'], 'owner' | 'createdBy' | 'issuedBy'>>,
  { state, ids }: ReviewSources,
): string | undefined {
  if (owner) return owner;
  const agent = [...state.agents.values()].find(({ uid }) => uid === issuedBy);
  const person = agent && lineOf(agent, state).at(-1)?.spec.person?.id;
  return person ?? ids.get(createdBy?.replace(/^user:/, '') ?? '');
}

function deviceItem(peer: PeerRecord, known: ReviewSources): ItemFacts[] {
  const { state, tokens, now } = known;
  const { name, uid, spec, status, createdAt } = peer;
  if (status.phase !== 'ready' || hasEnded(spec, now)) return [];
  const agent = state.agents.get(spec.agentRef ?? spec.delegatedBy ?? '');
  const person = agent && lineOf(agent, state).at(-1)?.spec.person;
  const token = tokens.get(status.tokenId ?? '')?.spec;
  const maker = token?.createdBy ?? status.tokenBy ?? '';
  const owner = person?.id ?? makerOf({ ...token, createdBy: maker }, known);
  const presence = state.presence.get(name)?.spec;
  const seen = presence?.lastSeenAt;
  return [
    {
      id: `MeshPeer/${uid}`,
      type: 'device',
      name,
      facts: {
        labels: 'none',
        ...factsOf(peer),
        since: formatInstant(createdAt),
        granted_by: status.approvedBy ?? (agent ? `agent:${agent.name}` : 'a join token'),
        ...(spec.expiresAt !== undefined && { ends: spec.expiresAt }),
      },
      told: {
        ...(presence?.online ? { last_use: 'online' } : { last_use: seen ?? 'unknown' }),
        ...(maker !== '' && { token_of: maker }),
      },
      scopes: [],
      people: owner === undefined ? [] : [owner],
    },
  ];
}

function lastUse(at: number | undefined): Readonly<Record<string, string>> {
  return { last_use: at === undefined ? 'unknown' : formatInstant(at) };
}
