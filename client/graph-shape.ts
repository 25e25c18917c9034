import { isHostOf } from '../core/changes/address.ts';
import { parseAddress, parseCidr } from '../core/model/cidr.ts';
import type { DeltaGraph, FetchGraph, FullGraph, RelayGrant } from '../core/model/graph.ts';
import { isPublicKey } from '../core/model/public-key.ts';
import { parseRelayAddress } from '../net/relay/address.ts';
import {
  ifIs,
  instant,
  integer,
  json,
  list,
  Mismatch,
  nullable,
  object,
  oneOf,
  type Shape,
  text,
  where,
} from './shape.ts';

/**
 * The graph as a node takes it. What comes through here goes on to WireGuard, to routes and to nftables, so each text has
 * its exact form. Fields of later versions are dropped.
 */
const MAX_PEERS = 65_535;
const MAX_RULES = 1_000_000;

const id = text(64, /^[\w-]+$/);
const name = text(63, /^[\w.-]+$/);
const address = text(45, (value) => parseAddress(value) !== undefined);
const cidr = text(49, (value) => parseCidr(value) !== undefined);
const hostPort = text(512);
const port = integer(0, 65_535);

const self = where(object({ id, name, address, cidr, phase: oneOf('ready') }, { expiresAt: instant }), (own) =>
  isHostOf(own.cidr, own.address),
);
const peer = object(
  { id, name, publicKey: text(44, isPublicKey), address, allowedIps: list(cidr, 64) },
  { expiresAt: instant },
);
const rule = where(
  object({ cidr, protocol: oneOf('ALL', 'TCP', 'UDP', 'SCTP', 'ICMP') }, { from: port, to: port, expiresAt: instant }),
  ({ from, to }) => (from === undefined) === (to === undefined) && (from ?? 0) <= (to ?? 0),
);
const rules = object({ in: list(rule, MAX_RULES), out: list(rule, MAX_RULES) });
const relayFields = object({ url: hostPort, expiresAt: instant }, { credential: text(512) });

/** The credential stands beside the address of the relay, or in it: `lrp://<credential>@host:port`. */
const relay: Shape<RelayGrant> = (value) => {
  const { url, expiresAt, credential = parseRelayAddress(url)?.credential } = relayFields(value);
  if (credential === undefined) throw new Mismatch(['credential']);
  return { url, credential, expiresAt };
};
const head = {
  epoch: text(128),
  version: integer(0),
  reason: text(1_024),
  self,
  relay: nullable(relay),
  stun: list(hostPort, 8),
  checkpoint: nullable(text(4_096)),
};
const digest = text(64, /^[0-9a-f]{64}$/);
const peers = list(peer, MAX_PEERS);

export const fullGraphShape: Shape<FullGraph> = object({
  kind: oneOf('full'),
  ...head,
  peers,
  firewall: object({ digest, full: rules }),
});

const deltaGraphShape: Shape<DeltaGraph> = object({
  kind: oneOf('delta'),
  ...head,
  base: integer(0),
  peers: object({ added: peers, updated: peers, removed: list(id, MAX_PEERS) }),
  firewall: object({ digest, delta: object({ added: rules, removed: rules }) }),
});

const fetchGraphShape: Shape<FetchGraph> = object({
  kind: oneOf('fetch'),
  epoch: head.epoch,
  version: head.version,
  reason: head.reason,
});

/** What the control plane sends on a node's graph subject. `gone`: this node was shut out or removed. */
export type GraphMessage = FullGraph | DeltaGraph | FetchGraph | { readonly kind: 'gone' };

const kindShape = object({ kind: oneOf('full', 'delta', 'fetch', 'gone') });
const shapes = {
  full: fullGraphShape,
  delta: deltaGraphShape,
  fetch: fetchGraphShape,
  gone: object({ kind: oneOf('gone') }),
};
const messageShape: Shape<GraphMessage> = (value) => shapes[kindShape(value).kind](value);

/** Undefined for anything that is no such message. */
export function parseGraphMessage(bytes: Uint8Array): GraphMessage | undefined {
  return ifIs(json(messageShape), Buffer.from(bytes).toString());
}

/** A graph as it was kept on disk. */
export function parseFullGraph(kept: string): FullGraph | undefined {
  return ifIs(json(fullGraphShape), kept);
}
