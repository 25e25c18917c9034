import { memoize } from '../base/memoize.ts';
import { parseInstant } from '../base/time.ts';
import {
  type PeerEntry,
  type PolicySpec,
  type PortEntry,
  type Protocol,
  policySpecSchema,
  type Selector,
} from '../model/policy.ts';
import type { NetworkModel } from './model.ts';

/** Parsed once for each policy: a pair of peers looks at all of them. */
const specOf = memoize((policy: NetworkModel['policies'][number]): PolicySpec => policySpecSchema.parse(policy.spec));

/** A second reading of docs/policy.md#precedence, written pair by pair from the text: slow, plain and sharing nothing with the engine. */
export function naiveVerdict(
  model: NetworkModel,
  src: string,
  dst: string,
  protocol: Protocol,
  port?: number,
): boolean {
  const from = endpoint(model, src);
  const to = endpoint(model, dst);
  if (!from || !to || !alive(from, model.now) || !alive(to, model.now)) return false;
  if (src === dst) return true;
  if (from.external && to.external) return false;
  if (!from.external && !to.external && from.network !== to.network) return false;
  if (from.bound) {
    if ('reach' in from.bound) {
      if (!from.bound.reach.some((r) => anyMatch(r.to, to) && portMatch(r.ports, protocol, port))) return false;
    } else if (!naiveVerdict(model, from.bound.ancestor, dst, protocol, port)) return false;
  }
  return (
    (from.external || direction(model, 'egress', from, to, protocol, port)) &&
    (to.external || direction(model, 'ingress', to, from, protocol, port))
  );
}

interface End {
  name: string;
  id: string;
  external: boolean;
  network: string;
  labels: Readonly<Record<string, string>>;
  range: [number, number] | undefined;
  phase: string;
  expiresAt: number;
  bound: NetworkModel['peers'][number]['bound'];
}

function endpoint(model: NetworkModel, name: string): End | undefined {
  const peer = model.peers.find((p) => p.name === name);
  if (peer) {
    const range: [number, number] | undefined = peer.address ? [ip(peer.address), ip(peer.address)] : undefined;
    const { phase = 'ready', expiresAt = Number.POSITIVE_INFINITY } = peer;
    return {
      name,
      id: peer.uid ?? name,
      external: false,
      network: peer.network,
      labels: peer.labels,
      range,
      phase,
      expiresAt,
      bound: peer.bound,
    };
  }
  const outside = model.externals?.find((e) => e.name === name);
  if (!outside || typeof outside.range !== 'string') return undefined;
  const range = cidr(outside.range);
  return {
    name,
    id: '',
    external: true,
    network: '',
    labels: {},
    range,
    phase: 'ready',
    expiresAt: Number.POSITIVE_INFINITY,
    bound: undefined,
  };
}

function alive(end: End, now: number): boolean {
  return end.phase === 'ready' && end.expiresAt > now;
}

function direction(
  model: NetworkModel,
  side: 'ingress' | 'egress',
  me: End,
  other: End,
  protocol: Protocol,
  port?: number,
): boolean {
  const specs = model.policies
    .map((p) => specOf(p))
    .filter((s) => !s.expiresAt || parseInstant(s.expiresAt) > model.now)
    .filter((s) => (!s.network || s.network === me.network) && selects(s.peerSelector ?? {}, me))
    .filter((s) => s[side] || (!s.ingress && !s.egress));
  const hit = (s: PolicySpec) =>
    (s[side] ?? []).some(
      (r) => anyMatch('from' in r ? r.from : 'to' in r ? r.to : undefined, other) && portMatch(r.ports, protocol, port),
    );
  if (specs.some((s) => s.action === 'DENY' && hit(s))) return false;
  if (specs.some((s) => s.action === 'ALLOW' && hit(s))) return true;
  if (specs.some((s) => s.action === 'ALLOW' || (s[side] ?? []).length === 0)) return false;
  return model.networks.find((n) => n.name === me.network)?.defaultAction === 'ALLOW';
}

function anyMatch(entries: readonly PeerEntry[] | undefined, other: End): boolean {
  if (!entries?.length) return true;
  return entries.some((entry) => {
    if (entry === '*') return true;
    if (entry.peerSelector) return !other.external && selects(entry.peerSelector, other);
    if (!entry.ipBlock || !other.range) return false;
    const [low, high] = cidr(entry.ipBlock.cidr);
    const [from, to] = other.range;
    if (from < low || to > high) return false;
    return !(entry.ipBlock.except ?? []).some((e) => {
      const [a, b] = cidr(e);
      return from <= b && a <= to;
    });
  });
}

function selects(selector: Selector, { id, labels }: Pick<End, 'id' | 'labels'>): boolean {
  if (selector.peers && !selector.peers.some((one) => one === id)) return false;
  if (selector.notPeers?.some((one) => one === id)) return false;
  const byLabel = Object.entries(selector.matchLabels ?? {}).every(([k, v]) => labels[k] === v);
  return (
    byLabel &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'In') return value !== undefined && values.includes(value);
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      return (value !== undefined) === (operator === 'Exists');
    })
  );
}

function portMatch(entries: readonly PortEntry[] | undefined, protocol: Protocol, port?: number): boolean {
  if (!entries?.length) return true;
  return entries.some((e) => {
    if ((e.protocol ?? 'TCP') !== protocol) return false;
    if (e.port === undefined || port === undefined) return true;
    return port >= e.port && port <= (e.endPort ?? e.port);
  });
}

function ip(text: string): number {
  return text.split('.').reduce((n, part) => n * 256 + Number(part), 0);
}

const IPV6 = 2 ** 40;

/** IPv6 is one place beyond all of IPv4: endpoints here have one address of it at most, and blocks all of it or none. */
function cidr(text: string): [number, number] {
  if (text.includes(':')) return [IPV6, IPV6];
  const [address = '', length = '32'] = text.split('/');
  const size = 2 ** (32 - Number(length));
  const low = Math.floor(ip(address) / size) * size;
  return [low, low + size - 1];
}
