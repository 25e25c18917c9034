import type { EgressRule, IngressRule, PolicySpec, PortEntry, Selector } from '../model/policy.ts';
import type { Endpoint } from './endpoints.ts';
import type { Fix } from './explanation.ts';
import type { Direction, PeerInput } from './model.ts';
import { type AllowedPorts, NO_PORTS, type PortSetId } from './port-sets.ts';
import type { ActivePolicy, RuleCode } from './program.ts';
import type { Reachability } from './reachability.ts';

/** A rule that is about a pair. */
export interface MatchedRule {
  readonly policy: ActivePolicy;
  readonly index: number;
  readonly rule: RuleCode;
  /** The part of the question that the rule covers. */
  readonly covers: PortSetId;
}

/** Rules and policies that refuse a pair in one direction. */
export interface Obstacle {
  readonly subject: Endpoint;
  readonly other: Endpoint;
  readonly scope: PortSetId;
  readonly allows: readonly MatchedRule[];
  readonly denies: readonly MatchedRule[];
  readonly isolators: readonly ActivePolicy[];
}

/** Returns the fixes of an obstacle: its DENY rules spare the pair, and a policy allows what no rule does. */
export function fixesOf(reach: Reachability, direction: Direction, obstacle: Obstacle): Fix[] {
  const { ports, table } = reach.parts;
  const { subject, other, scope, allows, denies, isolators } = obstacle;
  const spared = denies.map(
    ({ policy, index, rule }): Fix => ({
      change: 'spare_pair',
      policy: policy.name,
      direction,
      rule_index: index,
      keeps: portEntriesOf(ports.describe(ports.minus(rule.ports, scope))),
    }),
  );
  const open = isolators.length > 0 ? NO_PORTS : table.defaultOf(subject.classIndex);
  const lacking = ports.minus(scope, ports.union(open, unionOf(reach, allows)));
  if (lacking === NO_PORTS) return spared;
  const entry = entryFor(reach, other);
  const own = peerOf(reach, subject);
  if (entry === undefined || own === undefined) return spared;
  const rulePorts = portEntriesOf(ports.describe(lacking));
  const withPorts = rulePorts.length > 0 ? { ports: rulePorts } : {};
  const spec: PolicySpec = {
    network: own.network,
    action: 'ALLOW',
    peerSelector: onlyPeer(own),
    ...(direction === 'ingress'
      ? { ingress: [{ from: [entry], ...withPorts } satisfies IngressRule] }
      : { egress: [{ to: [entry], ...withPorts } satisfies EgressRule] }),
  };
  return [...spared, { change: 'add_policy', policy: null, direction, spec }];
}

function entryFor(reach: Reachability, { name, external }: Endpoint) {
  if (!external) {
    const peer = peerOf(reach, { name });
    return peer && { peerSelector: onlyPeer(peer) };
  }
  const range = reach.model.externals?.find((one) => one.name === name)?.range;
  if (typeof range !== 'string') return '*' as const;
  if (range.includes('/')) return { ipBlock: { cidr: range } };
  return range.includes('-') ? ('*' as const) : { ipBlock: { cidr: `${range}/${range.includes(':') ? 128 : 32}` } };
}

function onlyPeer({ uid, name }: PeerInput): Selector {
  return { peers: [uid ?? name] };
}

function peerOf(reach: Reachability, { name }: { readonly name: string }): PeerInput | undefined {
  return reach.model.peers.find((peer) => peer.name === name);
}

function portEntriesOf(allowed: AllowedPorts): PortEntry[] {
  if (allowed === 'ALL') return [];
  return allowed.map(({ protocol, from, to }) => ({
    protocol,
    ...(from !== undefined && { port: from }),
    ...(to !== undefined && to !== from && { endPort: to }),
  }));
}

/** Returns the ports that rules cover together. */
export function unionOf(reach: Reachability, rules: readonly MatchedRule[]): PortSetId {
  return rules.reduce<PortSetId>((set, { covers }) => reach.parts.ports.union(set, covers), NO_PORTS);
}
