import { createHash } from 'node:crypto';
import {
  described,
  type Infer,
  instant,
  integer,
  list,
  named,
  nullable,
  object,
  oneOf,
  type Shape,
  shapeOf,
  text,
  where,
} from '../base/shape.ts';
import { ONE_LINE } from '../base/visible-line.ts';
import { parseAddress, parseCidr } from './cidr.ts';
import { isPublicKey } from './public-key.ts';

/**
 * The graph that a node receives (docs/wire.md#graph). The control plane compiles it, a node renders it to WireGuard and
 * nftables; it holds no labels and no policies. Instants are ISO 8601 UTC. Lists have one order, so equal graphs are equal
 * values.
 *
 * The shapes here are the only definition: the types derive from them, a node accepts what they accept, and the API describes
 * its answer by them. Their values go on to WireGuard, routes and nftables, so each text has its exact form.
 */
const MAX_PEERS = 65_535;
const MAX_RULES = 1_000_000;

const id = text(64, /^[\w-]+$/);
const name = text(63, /^[\w.-]+$/);
const SLUG = /^[a-z0-9][a-z0-9._-]*$/;
const address = text(45, (value) => parseAddress(value) !== undefined);
const cidr = text(49, (value) => parseCidr(value) !== undefined);
const hostPort = text(512, ONE_LINE);
const port = integer(0, 65_535);

const graphSelf = object(
  {
    id,
    name,
    address,
    /** The block that the node routes into the overlay. */
    cidr: described(cidr, 'Block of its network'),
    phase: oneOf('ready'),
  },
  {
    expiresAt: instant,
    /** The label before `mesh.internal` in overlay names. Absent from an older control plane. */
    workspace: described(text(63, SLUG), 'Slug of its workspace'),
    /** The node has both addresses and routes both blocks. A node of an earlier version has the present ones alone. */
    former: described(
      object({ address, cidr }),
      'Address and block before its network was renumbered, while both hold',
    ),
  },
);

const graphPeer = object(
  {
    id,
    name,
    /** X25519, base64. */
    publicKey: text(44, isPublicKey),
    address,
    allowedIps: list(cidr, 64),
  },
  {
    /** The node drops the peer then, also without the control plane. */
    expiresAt: instant,
  },
);

/** A permission. `ALL` is every protocol; ICMP and ALL have no ports. The node drops whatever no entry permits. */
const firewallEntry = where(
  object({ cidr, protocol: oneOf('ALL', 'TCP', 'UDP', 'SCTP', 'ICMP') }, { from: port, to: port, expiresAt: instant }),
  ({ from, to }) => (from === undefined) === (to === undefined) && (from ?? 0) <= (to ?? 0),
);

const firewallRules = object({
  /** Permissions to open connections to this node. */
  in: list(firewallEntry, MAX_RULES),
  /** To whom this node may open connections. */
  out: list(firewallEntry, MAX_RULES),
});

const relayGrant = object(
  {
    /** `host:port`, or `lrps://host:port` where the relay speaks TLS. */
    url: hostPort,
    credential: text(512),
    expiresAt: instant,
  },
  {
    /** For clients that take an address; as secret as the credential. */
    address: described(text(1_024), 'Both in one: lrp://<credential>@host:port'),
  },
);

/** Name of a relay that is configured without one. */
export const MAIN_RELAY = 'main';

const relayPlace = named(
  object(
    {
      name: described(text(32, /^[a-z0-9][a-z0-9-]*$/), 'The same for all nodes'),
      url: hostPort,
    },
    {
      region: text(63, ONE_LINE),
      /** Beside that of the others: of two that are as near, one of twice the capacity is chosen twice as often. */
      capacity: described(integer(1, 1_000_000), 'How much of the load it is to take, beside others'),
    },
  ),
  'GraphRelay',
);

const head = {
  /** Changes when the store was restored; only then may the version go down. */
  epoch: text(128),
  version: described(integer(0), 'Revision of the workspace'),
  reason: text(1_024, ONE_LINE),
};

const body = {
  ...head,
  self: graphSelf,
  /** Null where the control plane has no relay. */
  relay: nullable(relayGrant),
  /** host:port of STUN servers. */
  stun: list(hostPort, 8),
  /** Signed checkpoint of the audit log; null where there is none yet. */
  checkpoint: nullable(text(4_096)),
};
const optional = {
  /** All relays where there are several, that of `relay` first; its credential opens all of them. */
  relays: list(relayPlace, 8),
};
const digest = described(text(64, /^[0-9a-f]{64}$/), 'SHA-256 of the rules, hex');
const peers = list(graphPeer, MAX_PEERS);

export const fullGraphShape = object(
  {
    kind: oneOf('full'),
    ...body,
    peers,
    firewall: object({ digest, full: firewallRules }),
  },
  optional,
);

const deltaGraphShape = object(
  {
    kind: oneOf('delta'),
    ...body,
    /** The version last sent to this node; a node at an older one asks for the full graph. */
    base: integer(0),
    peers: object({ added: peers, updated: peers, removed: list(id, MAX_PEERS) }),
    firewall: object({
      /** Digest of the rules after the delta. */
      digest,
      delta: object({ added: firewallRules, removed: firewallRules }),
    }),
  },
  optional,
);

/** Sent in place of a graph that is too large for one message of the bus: the node fetches it over the API. */
const fetchGraphShape = object({ kind: oneOf('fetch'), ...head });

/** This node was shut out or removed. */
const goneShape = object({ kind: oneOf('gone') });

export type GraphSelf = Infer<typeof graphSelf>;
export type GraphPeer = Infer<typeof graphPeer>;
export type FirewallEntry = Infer<typeof firewallEntry>;
export type FirewallRules = Infer<typeof firewallRules>;
export type RelayGrant = Infer<typeof relayGrant>;
export type GraphRelay = Infer<typeof relayPlace>;
export type FullGraph = Infer<typeof fullGraphShape>;
export type DeltaGraph = Infer<typeof deltaGraphShape>;
export type FetchGraph = Infer<typeof fetchGraphShape>;
/** A message that the control plane sends on a node's graph subject. */
export type GraphMessage = FullGraph | DeltaGraph | FetchGraph | Infer<typeof goneShape>;

const messages: { readonly [K in GraphMessage['kind']]: Shape<Extract<GraphMessage, { readonly kind: K }>> } = {
  full: fullGraphShape,
  delta: deltaGraphShape,
  fetch: fetchGraphShape,
  gone: goneShape,
};
const kindShape = object({ kind: oneOf('full', 'delta', 'fetch', 'gone') });

export const graphMessageShape: Shape<GraphMessage> = shapeOf({ kind: 'any' }, (value) =>
  messages[kindShape(value).kind](value),
);

export function encodeGraphMessage(message: GraphMessage): Uint8Array {
  return Buffer.from(jsonOf(message));
}

function jsonOf(message: GraphMessage): string {
  if (message.kind === 'full') {
    const { peers, firewall, ...head } = message;
    const { digest, full } = firewall;
    return withParts(head, sharedList(peers), `{"digest":"${digest}","full":${sharedRules(full)}}`);
  }
  if (message.kind === 'delta') {
    const { peers, firewall, ...head } = message;
    const { digest, delta } = firewall;
    const { added, updated, removed } = peers;
    const changed = `{"added":${sharedList(added)},"updated":${sharedList(updated)},"removed":${JSON.stringify(removed)}}`;
    const rules = `{"added":${sharedRules(delta.added)},"removed":${sharedRules(delta.removed)}}`;
    return withParts(head, changed, `{"digest":"${digest}","delta":${rules}}`);
  }
  return JSON.stringify(message);
}

function withParts(head: object, peers: string, firewall: string): string {
  return `${JSON.stringify(head).slice(0, -1)},"peers":${peers},"firewall":${firewall}}`;
}

function sharedRules(rules: FirewallRules): string {
  return `{"in":${sharedList(rules.in)},"out":${sharedList(rules.out)}}`;
}

function sharedList(items: readonly object[]): string {
  return `[${items.map(shared).join()}]`;
}

const texts = new WeakMap<object, string>();

/** The text of what many nodes are told, made once. */
function shared(part: object): string {
  const known = texts.get(part);
  if (known !== undefined) return known;
  const text = JSON.stringify(part);
  texts.set(part, text);
  return text;
}

/**
 * The full graph after a delta. A node that fetched its graph may hold a later version than the delta's base, of the same
 * contents unless something concerned it in between: the digest tells.
 *
 * @returns undefined when the delta does not fit: its base was missed, or the rules do not give its digest. The node then
 * asks for the full graph.
 */
export function applyDelta(before: FullGraph, delta: DeltaGraph): FullGraph | undefined {
  const { version, epoch } = before;
  if (version < delta.base || version >= delta.version || epoch !== delta.epoch) return undefined;
  const { added, removed } = delta.firewall.delta;
  const rules = (way: 'in' | 'out') =>
    amended(before.firewall.full[way], ruleKey, removed[way].map(ruleKey), added[way]);
  const full = { in: rules('in'), out: rules('out') };
  if (firewallDigest(full) !== delta.firewall.digest) return undefined;
  const { kind: _kind, base: _base, peers: _peers, firewall: _firewall, ...head } = delta;
  return {
    ...head,
    kind: 'full',
    peers: amended(before.peers, idOf, delta.peers.removed, [...delta.peers.updated, ...delta.peers.added]),
    firewall: { digest: delta.firewall.digest, full },
  };
}

/** SHA-256 in hex over the rules in their order. */
export function firewallDigest(rules: FirewallRules): string {
  return digestOfLines((['in', 'out'] as const).map((way) => rules[way].map((entry) => ruleLine(way, entry)).join('')));
}

/** The digest of rules whose {@link ruleLine}s are these, in their order and cut anywhere. */
export function digestOfLines(pieces: Iterable<string | Uint8Array>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

/** Returns the line of a rule that goes into the digest; ASCII only. */
export function ruleLine(way: 'in' | 'out', entry: FirewallEntry): string {
  return `${way} ${ruleKey(entry)}\n`;
}

export function sortedRules(rules: FirewallRules): FirewallRules {
  return { in: inOrder(rules.in, ruleKey), out: inOrder(rules.out, ruleKey) };
}

export function sortedPeers(peers: Iterable<GraphPeer>): GraphPeer[] {
  return inOrder([...peers], idOf);
}

/** By their keys, as everything in a graph is. */
export function inOrder<T>(items: readonly T[], key: (item: T) => string): T[] {
  return items
    .map((item) => [key(item), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, item]) => item);
}

/** A list in the order of its keys, without some of them and with others. The work follows the changes: what lies between is copied. */
function amended<T>(
  items: readonly T[],
  key: (item: T) => string,
  without: readonly string[],
  added: readonly T[],
): readonly T[] {
  const changes = new Map<string, T | undefined>(without.map((gone) => [gone, undefined]));
  for (const item of added) changes.set(key(item), item);
  if (changes.size === 0) return items;
  const pieces: (readonly T[])[] = [];
  let end = 0;
  for (const [changed, item] of [...changes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const place = placeOf(items, key, changed, end);
    pieces.push(items.slice(end, place));
    if (item !== undefined) pieces.push([item]);
    const there = items[place];
    end = there !== undefined && key(there) === changed ? place + 1 : place;
  }
  return [...pieces, items.slice(end)].flat();
}

/** Where a key stands, or would stand, in a list in the order of its keys. */
export function placeOf<T>(items: readonly T[], key: (item: T) => string, wanted: string, from = 0): number {
  let [low, high] = [from, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const there = items[middle];
    if (there !== undefined && key(there) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

const keys = new WeakMap<FirewallEntry, string>();

/** A line that says all of an entry, whatever the order of its fields; rules are in the order of these. */
export function ruleKey(entry: FirewallEntry): string {
  const known = keys.get(entry);
  if (known !== undefined) return known;
  const { cidr, protocol, from, to, expiresAt } = entry;
  const key = `${cidr} ${protocol} ${from ?? '-'} ${to ?? '-'} ${expiresAt ?? '-'}`;
  keys.set(entry, key);
  return key;
}

const idOf = ({ id }: GraphPeer) => id;

export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
