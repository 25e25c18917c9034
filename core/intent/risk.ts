import { containsRange, parseCidr } from '../network/cidr.ts';
import type { PolicySpec } from '../network/policy.ts';
import type { PeerRecord } from '../network/resources.ts';
import { selects, selectsEveryone } from '../network/selector.ts';
import type { NetworkState } from '../network/state.ts';
import { sameValue } from '../network/value.ts';
import { type Effect, namesOn } from './effect.ts';
import type { Finding } from './findings.ts';
import type { PortSpan } from './port-spans.ts';

export const RISK_LEVELS = ['low', 'medium', 'high', 'critical'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];

export interface Risk {
  readonly level: RiskLevel;
  /** Why, the gravest first. */
  readonly reasons: readonly string[];
}

/** Labels that mark peers whose data is worth protecting (facts of the frameworks: PCI-DSS, HIPAA). */
const SENSITIVE_LABELS = ['compliance.scope', 'pci', 'phi', 'ephi', 'data'] as const;
const HARMLESS_VALUES: ReadonlySet<string> = new Set(['false', 'no', 'none', 'public']);
/** Shares of the network from which on a change is more than local. Tiny networks are always wholly touched. */
const WIDE_SHARE = 0.25;
const WIDE_PEERS = 8;
const OUTAGE_SHARE = 0.5;
const OPENING_SHARE = 0.5;
/** Ports of one pair from which on an opening is no longer for one service; the dynamic ports are 16,384. */
const MANY_PORTS = 100;
const ANY_PORTS = 16_000;

/** How risky a change is, computed from its effect alone (DESIGN 5.5). */
export function riskOf(
  effect: Effect,
  before: NetworkState,
  after: NetworkState,
  { callerPeer, findings }: { readonly callerPeer: string | undefined; readonly findings: readonly Finding[] },
): Risk {
  const found: [RiskLevel, string][] = [];
  const sensitive = (name: string) => isSensitive(after.peers.get(name) ?? before.peers.get(name));
  const opened = effect.groups.filter((group) => group.opened.length > 0);
  const widest = opened.reduce((most, group) => Math.max(most, portsIn(group.opened)), 0);
  if (widest >= ANY_PORTS) found.push(['high', 'opens almost every port of a protocol, or all']);
  else if (widest >= MANY_PORTS) found.push(['medium', `opens ${widest} ports between two peers`]);
  const reached = [...namesOn(opened, 'dst')].filter(sensitive).length;
  if (reached > 0) found.push(['high', `opens new ways to ${counted(reached, 'sensitive peer')}`]);
  for (const [name, { spec }] of after.policies) {
    if (sameValue(before.policies.get(name)?.spec, spec)) continue;
    const outside = outsideReach(spec, after);
    if (!outside) continue;
    const exposed = [...after.peers.values()].some((peer) => isSensitive(peer) && outside.subjects(peer));
    found.push([exposed ? 'critical' : 'high', outside.reason + (exposed ? ', sensitive peers too' : '')]);
  }
  if (before.networks.size > 0) found.push(...defaultsOpened(before, after));
  const possible = after.peers.size * (after.peers.size - 1);
  if (effect.openedPairs >= WIDE_PEERS && effect.openedPairs >= OPENING_SHARE * possible) {
    found.push(['high', `opens ${effect.openedPairs} of ${possible} pairs of peers`]);
  }
  if (effect.lostPairs > 0) {
    const all = effect.lostPairs === effect.pairsBefore;
    const outage = effect.lostPairs >= OUTAGE_SHARE * effect.pairsBefore && effect.pairsBefore >= WIDE_PEERS;
    const level = outage ? (all ? 'critical' : 'high') : 'medium';
    found.push([level, `ends all traffic of ${counted(effect.lostPairs, 'pair')} of peers`]);
  } else if (effect.closedPairs > 0) {
    found.push(['medium', `closes ports between ${counted(effect.closedPairs, 'pair')} of peers`]);
  }
  const touched = namesOn(effect.groups, 'src', 'dst');
  if (touched.size >= WIDE_PEERS && touched.size > WIDE_SHARE * after.peers.size) {
    found.push(['medium', `touches ${touched.size} of ${after.peers.size} peers`]);
  }
  const cut =
    callerPeer !== undefined &&
    namesOn(
      effect.groups.filter(({ closed }) => closed.length > 0),
      'src',
      'dst',
    ).has(callerPeer);
  if (cut) found.push(['high', 'closes connections of the caller itself']);
  for (const { code, message } of findings) {
    if (code === 'CONTROL_LOCKED_OUT') found.push(['critical', message]);
    else if (code.endsWith('_LOCKED_OUT') || code === 'BEYOND_DELEGATION' || code === 'OPENS_LATER')
      found.push(['high', message]);
  }
  found.sort(([a], [b]) => RISK_LEVELS.indexOf(b) - RISK_LEVELS.indexOf(a));
  return { level: found[0]?.[0] ?? 'low', reasons: found.map(([, reason]) => reason) };
}

function portsIn(spans: readonly PortSpan[]): number {
  return spans.reduce((sum, { from, to }) => sum + (from === undefined || to === undefined ? 1 : to - from + 1), 0);
}

/** Whether a level is at most another. */
export function isAtMost(level: RiskLevel, maximum: RiskLevel): boolean {
  return RISK_LEVELS.indexOf(level) <= RISK_LEVELS.indexOf(maximum);
}

function isSensitive(peer: PeerRecord | undefined): boolean {
  if (!peer) return false;
  return SENSITIVE_LABELS.some((key) => {
    const value = Object.hasOwn(peer.labels, key) ? peer.labels[key] : undefined;
    return value !== undefined && !HARMLESS_VALUES.has(value.toLowerCase());
  });
}

/** An ALLOW that lets in, or lets out to, addresses that are no peer. */
function outsideReach(
  spec: PolicySpec,
  state: NetworkState,
): { reason: string; subjects(peer: PeerRecord): boolean } | undefined {
  if (spec.action !== 'ALLOW') return undefined;
  const isOutside = (entry: unknown) => {
    if (entry === '*') return true;
    const cidr = (entry as { ipBlock?: { cidr: string } }).ipBlock?.cidr;
    const block = cidr === undefined ? undefined : parseCidr(cidr);
    if (!block) return false;
    const networks = [...state.networks.values()].map((network) => parseCidr(network.spec.cidr));
    return !networks.some((network) => network && containsRange(network, block));
  };
  const anyone = (entries: readonly unknown[] | undefined) => !entries?.length || entries.some(isOutside);
  const inward = spec.ingress?.some(({ from }) => anyone(from)) ?? false;
  const outward = spec.egress?.some(({ to }) => anyone(to)) ?? false;
  if (!inward && !outward) return undefined;
  return {
    reason: inward
      ? 'lets anyone in, from outside the network too'
      : 'lets peers out to anyone, outside the network too',
    subjects: (peer) => inward && selects(spec.peerSelector ?? {}, peer),
  };
}

function defaultsOpened(before: NetworkState, after: NetworkState): [RiskLevel, string][] {
  return [...after.networks.keys()].flatMap((name): [RiskLevel, string][] =>
    before.networks.has(name) && isClosed(name, before) && !isClosed(name, after)
      ? [['critical', `opens the network ${name} by default`]]
      : [],
  );
}

/** Whether its peers are closed where nothing opens them: by default, or by a policy that only isolates all of them. */
function isClosed(name: string, { networks, policies }: NetworkState): boolean {
  if (networks.get(name)?.spec.defaultAction === 'DENY') return true;
  return [...policies.values()].some(({ spec }) => {
    const isForAll = selectsEveryone(spec.peerSelector);
    const isSilent = spec.ingress === undefined && spec.egress === undefined;
    return isForAll && (spec.network ?? name) === name && (isSilent || spec.ingress?.length === 0);
  });
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
