import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { parseInstant } from '../base/time.ts';
import { grantTexts } from '../model/grants.ts';
import type { PeerRecord } from '../model/resources.ts';
import { isSpent, type TokenRecord, tokenName } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';

export const CREDENTIAL_TYPES = [
  'WireGuard key',
  'API token',
  'join token',
  'agent token',
  'delegate token',
  'device token',
  'log signing key',
  'control key',
  'session key',
  'relay token',
  'bus token',
  'sessions',
] as const;

/** A key or a token, without anything of it that is secret. Instants in ms; undefined where not known. */
export interface Credential {
  readonly type: (typeof CREDENTIAL_TYPES)[number];
  readonly id: string;
  readonly name: string;
  readonly since: number | undefined;
  readonly ends: number | undefined;
  readonly state: 'in use' | 'ended' | 'used up';
  readonly madeBy: string | undefined;
  /** What it gives whoever holds it, in words; undefined where it gives nothing by itself. */
  readonly grants: string | undefined;
}

interface Place {
  readonly section: number;
  readonly after: string;
}

type Uses = Pick<NetworkServices, 'store' | 'clock' | 'keys'>;
type Section = (services: Uses, workspace: string, after: string, limit: number) => Promise<readonly Named[]>;
interface Named extends Credential {
  /** What a cursor goes on after. */
  readonly key: string;
}

/** In the order in which they are listed. */
const SECTIONS: readonly Section[] = [
  peerKeys,
  tokens('api', 'API token'),
  tokens('join', 'join token'),
  tokens('agt', 'agent token'),
  tokens('dlg', 'delegate token'),
  tokens('dev', 'device token'),
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
  const items: Named[] = [];
  const start = placeOf(cursor);
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

function placeOf(cursor: string | undefined): Place {
  if (cursor === undefined) return { section: 0, after: '' };
  const dot = cursor.indexOf('.');
  return { section: Number(cursor.slice(0, dot)), after: cursor.slice(dot + 1) };
}

async function peerKeys({ store, clock }: Uses, workspace: string, after: string, limit: number): Promise<Named[]> {
  const { items } = await store.list(workspace, 'MeshPeer', { limit, ...(after !== '' && { after }) });
  return items.map((peer) => peerKey(peer, clock.now()));
}

function peerKey(peer: PeerRecord, now: number): Named {
  const { name, uid, spec, status, createdAt } = peer;
  const ends = spec.expiresAt === undefined ? undefined : parseInstant(spec.expiresAt);
  const isOver = status.phase === 'revoked' || status.phase === 'expired' || (ends !== undefined && ends <= now);
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
    return own.map((token): Named => {
      const { name, uid, spec, createdAt } = token;
      const isOver = spec.expiresAt !== undefined && spec.expiresAt <= clock.now();
      return {
        key: name,
        type,
        id: uid,
        name: spec.name,
        since: createdAt,
        ends: spec.expiresAt,
        state: isOver ? 'ended' : isSpent(spec) ? 'used up' : 'in use',
        madeBy: spec.createdBy,
        grants: grantsInWords(token),
      };
    });
  };
}

/** There are few: they come on one page, of as many as are asked for. */
async function installationKeys({ store, clock, keys }: Uses, _workspace: string, after: string, limit: number) {
  const now = clock.now();
  const sessions = (await store.list(SYSTEM_WORKSPACE, 'Session')).items.filter(({ spec }) => spec.expiresAt > now);
  const unknown = { since: undefined, ends: undefined, state: 'in use', madeBy: undefined, grants: undefined } as const;
  const all: Named[] = [
    ...keys.logs.keys.map(({ from, until }, index): Named => {
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
