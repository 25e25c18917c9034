import type { EgressRule, IngressRule, PolicySpec, PortEntry, Protocol, Selector } from '../model/policy.ts';
import { hasBit } from './bits.ts';
import type { Endpoint } from './endpoints.ts';
import type { Direction, PeerInput } from './model.ts';
import { type Allowed, NO_PORTS, type PortSetId } from './port-sets.ts';
import type { ActivePolicy, RuleCode } from './program.ts';
import type { Reachability } from './reachability.ts';
import type { ReasonCode, Stage } from './reasons.ts';

/** A pair, and what is asked of it: one port, one protocol, or everything. */
export interface ConnectivityQuery {
  readonly src: string;
  readonly dst: string;
  readonly protocol?: Protocol | undefined;
  readonly port?: number | undefined;
}

export type Verdict = 'reachable' | 'unreachable' | 'partial';

/** One stage of the decision. `policy` and `rule_index` name what decided it, where one policy did. */
export interface Step {
  readonly stage: Stage;
  readonly direction: Direction | null;
  readonly result: 'pass' | 'fail' | 'partial';
  readonly reason_code: ReasonCode | null;
  /** The endpoint the stage is about. */
  readonly subject: string;
  readonly policy: string | null;
  readonly rule_index: number | null;
}

export interface Blocker {
  readonly stage: Stage;
  readonly direction: Direction | null;
  readonly reason_code: ReasonCode;
  readonly policy: string | null;
  readonly rule_index: number | null;
}

/**
 * What removes one obstacle: a policy for these two alone, or that a rule spares them. All of them together open the
 * connection asked for.
 */
export type Fix =
  | { readonly change: 'add_policy'; readonly policy: null; readonly direction: Direction; readonly spec: PolicySpec }
  | {
      readonly change: 'spare_pair';
      readonly policy: string;
      readonly direction: Direction;
      readonly rule_index: number;
      /** Ports of the rule that were not asked about: on them it stays. */
      readonly keeps: readonly PortEntry[];
    };

export interface Explanation {
  readonly verdict: Verdict;
  readonly steps: readonly Step[];
  /** What of the question is allowed. */
  readonly allowed: Allowed;
  readonly blocked_by: readonly Blocker[];
  readonly would_fix: readonly Fix[];
}

/** Says what decides a connection, stage by stage, from the same rows that {@link Reachability.verdict} reads. */
export function explain(reach: Reachability, query: ConnectivityQuery): Explanation {
  const { ports, endpoints } = reach.parts;
  const scope = ports.ofQuery(query.protocol, query.port);
  const src = reach.placeOf(query.src);
  const dst = reach.placeOf(query.dst);
  const from = src === undefined ? undefined : endpoints[src];
  const to = dst === undefined ? undefined : endpoints[dst];
  if (src === undefined || dst === undefined || from === undefined || to === undefined) {
    return refused([fail('known', from === undefined ? query.src : query.dst, 'PEER_NOT_FOUND')]);
  }
  const admission = admit(from, to);
  const stopped = admission.at(-1);
  if (stopped?.result === 'fail') return refused(admission);
  if (src === dst) {
    const step: Step = { ...pass('same_network', query.src), reason_code: 'SELF_TRAFFIC' };
    return {
      verdict: 'reachable',
      steps: [...admission, step],
      allowed: ports.describe(scope),
      blocked_by: [],
      would_fix: [],
    };
  }
  const granted = ports.meet(reach.pair(src, dst), scope);
  const findings = [
    boundFinding(reach, from, { place: dst, endpoint: to }, scope),
    ...(from.external ? [] : [directionFinding(reach, 'egress', from, to, scope)]),
    ...(to.external ? [] : [directionFinding(reach, 'ingress', to, from, scope)]),
  ];
  return {
    verdict: granted === NO_PORTS ? 'unreachable' : granted === scope ? 'reachable' : 'partial',
    steps: [...admission, ...findings.flatMap(({ step }) => step ?? [])],
    allowed: ports.describe(granted),
    blocked_by: findings.flatMap(({ blockers }) => blockers),
    would_fix: findings.flatMap(({ fixes }) => fixes),
  };
}

interface Finding {
  readonly step: Step | undefined;
  readonly blockers: readonly Blocker[];
  readonly fixes: readonly Fix[];
}

function refused(steps: readonly Step[]): Explanation {
  const last = steps.at(-1);
  const blocked_by = last ? [blockerOf(last)] : [];
  return { verdict: 'unreachable', steps, allowed: [], blocked_by, would_fix: [] };
}

/** The stages before any policy counts, up to the first that fails. */
function admit(from: Endpoint, to: Endpoint): Step[] {
  const steps: Step[] = [pass('known', from.name), pass('known', to.name)];
  for (const stage of ['approved', 'not_expired'] as const) {
    for (const { name, dead } of [from, to]) {
      const concerns =
        stage === 'approved' ? dead === 'PEER_PENDING' || dead === 'PEER_REVOKED' : dead === 'PEER_EXPIRED';
      if (dead !== undefined && concerns) return [...steps, fail(stage, name, dead)];
      steps.push(pass(stage, name));
    }
  }
  if (from === to) return steps;
  if (from.external && to.external) return [...steps, fail('same_network', to.name, 'EXTERNAL_TO_EXTERNAL')];
  if (!from.external && !to.external && from.network !== to.network) {
    return [...steps, fail('same_network', to.name, 'DIFFERENT_NETWORK')];
  }
  return [...steps, pass('same_network', to.name)];
}

function boundFinding(
  reach: Reachability,
  from: Endpoint,
  to: { readonly place: number; readonly endpoint: Endpoint },
  scope: PortSetId,
): Finding {
  if (from.bound === undefined) return { step: undefined, blockers: [], fixes: [] };
  const left = reach.parts.ports.meet(reach.boundOn(from, to.place, to.endpoint), scope);
  const result = resultOf(left, scope);
  const step: Step = {
    ...pass('delegation_bound', from.name),
    result,
    reason_code: result === 'pass' ? null : 'DELEGATION_BOUND',
  };
  return { step, blockers: result === 'pass' ? [] : [blockerOf(step)], fixes: [] };
}

interface MatchedRule {
  readonly policy: ActivePolicy;
  readonly index: number;
  readonly rule: RuleCode;
  /** What of the question the rule covers. */
  readonly covers: PortSetId;
}

/** Replays the rules of one row for one pair. */
function directionFinding(
  reach: Reachability,
  direction: Direction,
  subject: Endpoint,
  other: Endpoint,
  scope: PortSetId,
): Finding {
  const { ports, table, policies, space } = reach.parts;
  const granted = ports.meet(table.row(direction, subject.classIndex)[other.classIndex] ?? NO_PORTS, scope);
  const selecting = table
    .selecting(subject.classIndex)
    .flatMap((index) => policies[index] ?? [])
    .filter(({ code }) => code[direction] !== undefined);
  const matched = (allow: boolean): MatchedRule[] =>
    selecting
      .filter(({ code }) => code.allow === allow)
      .flatMap((policy) =>
        (policy.code[direction] ?? [])
          .map((rule, index) => ({ policy, index, rule, covers: ports.meet(rule.ports, scope) }))
          .filter(({ rule }) => hasBit(space.othersOf(rule), other.classIndex)),
      );
  const allows = matched(true);
  const denies = matched(false).filter(({ covers }) => covers !== NO_PORTS);
  const isolators = selecting.filter(({ code }) => code.allow || code[direction]?.length === 0);
  const result = resultOf(granted, scope);
  const prefix = direction === 'egress' ? 'EGRESS' : 'INGRESS';
  const base = { stage: direction, direction } as const;
  const missing = ports.minus(scope, granted);

  const blockers: Blocker[] = denies.map(({ policy, index }) => ({
    ...base,
    reason_code: `${prefix}_DENIED_BY_RULE`,
    policy: policy.name,
    rule_index: index,
  }));
  const unallowed = ports.minus(missing, unionOf(reach, denies));
  if (result !== 'pass' && (unallowed !== NO_PORTS || denies.length === 0)) {
    blockers.push(...lackOf(base, prefix, allows, isolators));
  }
  const decider = deciderOf(granted, allows, reach);
  const step: Step = {
    ...base,
    result,
    subject: subject.name,
    ...(granted === NO_PORTS
      ? pick(blockers[0])
      : { reason_code: decider ? 'ALLOWED_BY_RULE' : 'ALLOWED_BY_DEFAULT', ...placeOfRule(decider) }),
  };
  return {
    step,
    blockers,
    fixes: result === 'pass' ? [] : fixesOf(reach, direction, { subject, other, scope, allows, denies, isolators }),
  };
}

function deciderOf(granted: PortSetId, allows: readonly MatchedRule[], reach: Reachability): MatchedRule | undefined {
  return allows.find(({ covers }) => reach.parts.ports.meet(covers, granted) !== NO_PORTS);
}

function lackOf(
  base: { readonly stage: Direction; readonly direction: Direction },
  prefix: 'EGRESS' | 'INGRESS',
  allows: readonly MatchedRule[],
  isolators: readonly ActivePolicy[],
): Blocker[] {
  if (allows.length > 0) {
    return allows.map((rule) => ({ ...base, reason_code: `${prefix}_PORT_MISMATCH`, ...placeOfRule(rule) }));
  }
  if (isolators.length === 0) return [{ ...base, reason_code: 'DENIED_BY_DEFAULT', policy: null, rule_index: null }];
  return isolators.map(({ name }) => ({ ...base, reason_code: `${prefix}_ISOLATED`, policy: name, rule_index: null }));
}

interface Obstacle {
  readonly subject: Endpoint;
  readonly other: Endpoint;
  readonly scope: PortSetId;
  readonly allows: readonly MatchedRule[];
  readonly denies: readonly MatchedRule[];
  readonly isolators: readonly ActivePolicy[];
}

function fixesOf(reach: Reachability, direction: Direction, obstacle: Obstacle): Fix[] {
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

function portEntriesOf(allowed: Allowed): PortEntry[] {
  if (allowed === 'ALL') return [];
  return allowed.map(({ protocol, from, to }) => ({
    protocol,
    ...(from !== undefined && { port: from }),
    ...(to !== undefined && to !== from && { endPort: to }),
  }));
}

function unionOf(reach: Reachability, rules: readonly MatchedRule[]): PortSetId {
  return rules.reduce<PortSetId>((set, { covers }) => reach.parts.ports.union(set, covers), NO_PORTS);
}

function resultOf(granted: PortSetId, scope: PortSetId): Step['result'] {
  return granted === NO_PORTS ? 'fail' : granted === scope ? 'pass' : 'partial';
}

function placeOfRule(rule: MatchedRule | undefined): Pick<Step, 'policy' | 'rule_index'> {
  return { policy: rule?.policy.name ?? null, rule_index: rule?.index ?? null };
}

function pick(blocker: Blocker | undefined): Pick<Step, 'reason_code' | 'policy' | 'rule_index'> {
  return {
    reason_code: blocker?.reason_code ?? null,
    policy: blocker?.policy ?? null,
    rule_index: blocker?.rule_index ?? null,
  };
}

function pass(stage: Stage, subject: string): Step {
  return { stage, direction: null, result: 'pass', reason_code: null, subject, policy: null, rule_index: null };
}

function fail(stage: Stage, subject: string, reason_code: ReasonCode): Step {
  return { ...pass(stage, subject), result: 'fail', reason_code };
}

function blockerOf({ stage, direction, reason_code, policy, rule_index }: Step): Blocker {
  return { stage, direction, reason_code: reason_code ?? 'PEER_NOT_FOUND', policy, rule_index };
}
