import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { StoredRecord } from '../base/record.ts';
import { hasEnded, parseInstant } from '../base/time.ts';
import { accountById, findAccount } from '../identity/accounts.ts';
import { grantTexts } from '../model/grants.ts';
import type { PeerRecord } from '../model/resources.ts';
import { isSpent, type TokenRecord, tokenName } from '../model/token-record.ts';
import {
  SCHEDULE_NAMES,
  type ScheduleName,
  scheduleIn,
  type WorkspaceSpec,
  workspaceById,
} from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';

export const CREDENTIAL_TYPES = [
  'WireGuard key',
  'API token',
  'join token',
  'agent token',
  'OAuth grant',
  'delegate token',
  'device token',
  'webhook',
  'schedule',
  'log signing key',
  'control key',
  'session key',
  'relay token',
  'bus token',
  'sessions',
] as const;

/** A key, a token, or what acts by itself without one, and nothing of it that is secret. Instants in ms; undefined where not known. */
export interface Credential {
  readonly type: (typeof CREDENTIAL_TYPES)[number];
  readonly id: string;
  readonly name: string;
  readonly since: number | undefined;
  readonly ends: number | undefined;
  readonly state: 'in use' | 'ended' | 'used up';
  readonly madeBy: string | undefined;
  /** The rights that the credential grants its holder, in words; undefined where it grants nothing by itself. */
  readonly grants: string | undefined;
  /** User name of the person who answers for it; undefined where none does any more, or none is known. */
  readonly owner: string | undefined;
}

/** Longer than any line that delegation makes. */
const MAX_LINE = 8;

interface InventoryPosition {
  readonly section: number;
  readonly after: string;
}

type Uses = Pick<NetworkServices, 'store' | 'clock' | 'keys'>;
type Section = (services: Uses, workspace: string, after: string, limit: number) => Promise<readonly InventoryEntry[]>;
interface InventoryEntry extends Credential {
  /** The position after which a cursor continues. */
  readonly key: string;
}

/** In the order in which they are listed. */
const SECTIONS: readonly Section[] = [
  peerKeys,
  tokens('api', 'API token'),
  tokens('join', 'join token'),
  tokens('agt', 'agent token'),
  tokens('oat', 'OAuth grant'),
  tokens('dlg', 'delegate token'),
  tokens('dev', 'device token'),
  webhooks,
  schedules,
];
const OF_INSTALLATION: readonly Section[] = [installationKeys];

/**
 * A page of the keys and tokens of a workspace; those of the installation behind them where they are asked for.
 *
 * @param cursor `next` of the page before
 */
export async function inventory(
  services: Uses,
  workspace: string,
  {
    cursor,
    limit,
    installation,
  }: { readonly cursor: string | undefined; readonly limit: number; readonly installation: boolean },
): Promise<{ readonly items: readonly Credential[]; readonly next?: string }> {
  const sections = installation ? [...SECTIONS, ...OF_INSTALLATION] : SECTIONS;
  const items: InventoryEntry[] = [];
  const start = positionOf(cursor);
  for (let at = start.section; at < sections.length; at += 1) {
    const after = at === start.section ? start.after : '';
    const found = (await sections[at]?.(services, workspace, after, limit - items.length + 1)) ?? [];
    const taken = found.slice(0, limit - items.length);
    items.push(...taken);
    if (found.length > taken.length) {
      return { items, next: `${at}.${taken.at(-1)?.key ?? after}` };
    }
  }
  return { items };
}

function positionOf(cursor: string | undefined): InventoryPosition {
  if (cursor === undefined) return { section: 0, after: '' };
  const dot = cursor.indexOf('.');
  return { section: Number(cursor.slice(0, dot)), after: cursor.slice(dot + 1) };
}

async function peerKeys(
  { store, clock }: Uses,
  workspace: string,
  after: string,
  limit: number,
): Promise<InventoryEntry[]> {
  const { items } = await store.list(workspace, 'MeshPeer', { limit, ...(after !== '' && { after }) });
  return items.map((peer) => peerKey(peer, clock.now()));
}

function peerKey(peer: PeerRecord, now: number): InventoryEntry {
  const { name, uid, spec, status, createdAt } = peer;
  const ends = spec.expiresAt === undefined ? undefined : parseInstant(spec.expiresAt);
  const isOver = status.phase === 'revoked' || status.phase === 'expired' || hasEnded(spec, now);
  return {
    key: name,
    type: 'WireGuard key',
    id: uid,
    name,
    since: status.keySince === undefined ? createdAt : parseInstant(status.keySince),
    ends,
    state: isOver ? 'ended' : 'in use',
    madeBy: undefined,
    grants: grantsInWords(peer),
    owner: undefined,
  };
}

function grantsInWords(record: PeerRecord | TokenRecord): string | undefined {
  const words = Object.entries(grantTexts(record)).map(([field, text]) => `${field}: ${text}`);
  return words.length === 0 ? undefined : words.join('; ');
}

function tokens(kind: TokenRecord['spec']['kind'], type: Credential['type']): Section {
  const prefix = tokenName(kind, '');
  return async ({ store, clock }, workspace, after, limit) => {
    const { items } = await store.list(workspace, 'Token', { after: after === '' ? prefix : after, limit });
    const own = items.filter(({ name }) => name.startsWith(prefix));
    const named = own.map(async (token): Promise<InventoryEntry> => {
      const { name, uid, spec, createdAt } = token;
      return {
        key: name,
        type,
        id: uid,
        name: spec.name,
        since: createdAt,
        ends: spec.expiresAt,
        state: hasEnded(spec, clock.now()) ? 'ended' : isSpent(spec) ? 'used up' : 'in use',
        madeBy: spec.createdBy,
        grants: grantsInWords(token),
        owner: await tokenOwner({ store }, workspace, spec),
      };
    });
    return Promise.all(named);
  };
}

/** Returns the name of the person behind a token: its own, who made it, or who answers for the agent that has or made it. */
async function tokenOwner(
  services: Pick<Uses, 'store'>,
  workspace: string,
  { kind, owner, createdBy, issuedBy }: TokenRecord['spec'],
): Promise<string | undefined> {
  if (kind === 'dev') return undefined;
  if (kind === 'api' || (kind === 'join' && owner !== '')) return nameOf(services, owner);
  const agent = kind === 'join' ? issuedBy : owner;
  if (agent === undefined) return (await findAccount(services, createdBy.replace(/^user:/, '')))?.name;
  return nameOf(services, await personOf(services, workspace, agent));
}

/** Returns the account that answers for an agent, by the root of its line, whether or not the agent is active yet. */
async function personOf({ store }: Pick<Uses, 'store'>, workspace: string, uid: string): Promise<string | undefined> {
  let agent = await store.getById(workspace, 'AgentIdentity', uid);
  for (let left = MAX_LINE; agent?.spec.parentRef && left > 0; left -= 1) {
    agent = await store.get(workspace, { kind: 'AgentIdentity', name: agent.spec.parentRef.name });
  }
  return agent?.spec.person?.id;
}

async function nameOf(services: Pick<Uses, 'store'>, account: string | undefined): Promise<string | undefined> {
  return account === undefined ? undefined : (await accountById(services, account))?.name;
}

async function webhooks(services: Uses, workspace: string, after: string, limit: number): Promise<InventoryEntry[]> {
  const { store } = services;
  const { items } = await store.list(workspace, 'Webhook', { limit, ...(after !== '' && { after }) });
  const named = items.map(async (webhook): Promise<InventoryEntry> => {
    const { name, uid, spec, createdAt } = webhook;
    return {
      key: name,
      type: 'webhook',
      id: uid,
      name: spec.description || (URL.parse(spec.url)?.host ?? ''),
      since: createdAt,
      ends: undefined,
      state: spec.enabled ? 'in use' : 'ended',
      madeBy: spec.createdBy,
      grants: undefined,
      owner: await webhookOwner(services, spec),
    };
  });
  return Promise.all(named);
}

/** Returns the name of who answers for a webhook. Of one that an older version made: its maker, where they are still there. */
export async function webhookOwner(
  services: Pick<Uses, 'store'>,
  { owner, createdBy }: StoredRecord<'Webhook'>['spec'],
): Promise<string | undefined> {
  if (owner === undefined) return (await findAccount(services, createdBy.replace(/^user:/, '')))?.name;
  return nameOf(services, owner?.id);
}

/** At most one of each name: they come on one page, of as many as are asked for. */
async function schedules(services: Uses, workspace: string, after: string, limit: number): Promise<InventoryEntry[]> {
  const { spec } = await workspaceById(services, workspace);
  const named = SCHEDULE_NAMES.toSorted().flatMap((name) =>
    name > after && scheduleIn(spec.settings, name) ? [scheduleEntry(services, spec, name)] : [],
  );
  return (await Promise.all(named)).slice(0, limit);
}

async function scheduleEntry(services: Uses, spec: WorkspaceSpec, name: ScheduleName): Promise<InventoryEntry> {
  const unknown = { since: undefined, ends: undefined, madeBy: undefined, grants: undefined } as const;
  const isOff = name !== 'reviews' && spec.settings.compliance?.schedules?.[name]?.enabled === false;
  const owner = await nameOf(services, spec.scheduleOwners?.[name]?.id);
  return { ...unknown, key: name, type: 'schedule', id: name, name, state: isOff ? 'ended' : 'in use', owner };
}

/** There are few: they come on one page, of as many as are asked for. */
async function installationKeys({ store, clock, keys }: Uses, _workspace: string, after: string, limit: number) {
  const now = clock.now();
  const sessions = (await store.list(SYSTEM_WORKSPACE, 'Session')).items.filter(({ spec }) => !hasEnded(spec, now));
  const unknown = {
    since: undefined,
    ends: undefined,
    state: 'in use',
    madeBy: undefined,
    grants: undefined,
    owner: undefined,
  } as const;
  const all: InventoryEntry[] = [
    ...keys.logs.keys.map(({ from, until }, index): InventoryEntry => {
      const key = `0.${String(index).padStart(6, '0')}`;
      const state = until === undefined ? 'in use' : 'ended';
      return {
        ...unknown,
        key,
        type: 'log signing key',
        id: `log-key-${index}`,
        name: 'audit logs',
        since: from,
        ends: until,
        state,
      };
    }),
    { ...unknown, key: '1', type: 'control key', id: keys.controlKeyId, name: 'control plane' },
    { ...unknown, key: '2', type: 'session key', id: 'session-key', name: 'control plane' },
    { ...unknown, key: '3', type: 'relay token', id: 'relay-token', name: 'shared by all nodes' },
    { ...unknown, key: '4', type: 'bus token', id: 'bus-token', name: 'shared by the bus and the control plane' },
    {
      ...unknown,
      key: '5',
      type: 'sessions',
      id: 'sessions',
      name: `${sessions.length} signed in`,
      since: sessions.length === 0 ? undefined : sessions.reduce((oldest, one) => Math.min(oldest, one.createdAt), now),
    },
  ];
  return all.filter(({ key }) => key > after).slice(0, limit);
}
