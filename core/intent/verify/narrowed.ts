import { type PortSpan, spansOf, subtract } from '../../effect/port-spans.ts';
import { lookUpById } from '../../model/find.ts';
import type { Rule } from '../../model/policy.ts';
import { allRulesOf, DIRECTIONS, entriesMatch, isSubject } from '../../model/policy-match.ts';
import { isSubset } from '../../model/ranges.ts';
import type { PeerRecord, PolicyRecord } from '../../model/resources.ts';
import { selectorWithin } from '../../model/selector-within.ts';
import { sameValue } from '../../model/value.ts';
import type { Direction } from '../../reachability/model.ts';
import type { PolicyCode, RuleCode } from '../../reachability/program.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import { addressesOf } from '../../reachability/rule-overlap.ts';
import type { NetworkState } from '../../state/state.ts';

interface Compared {
  readonly before: NetworkState;
  readonly after: NetworkState;
  readonly was: Reachability;
  readonly is: Reachability;
}

/**
 * Returns the names of the DENY policies that deny less after a change than before it, for peers of now or later ones: their
 * rules are deleted or narrowed, or labels take peers out of them. What others deny in their place counts;
 * what only several policies or selectors together deny in place of one does not.
 */
export function narrowedDenies({ before, after, was, is }: Compared): string[] {
  const denies = is.parts.policies.filter(({ code }) => !code.allow);
  const relabeled = relabeledPeers(before, after);
  return was.parts.policies.flatMap(({ name, spec, code }) => {
    if (code.allow) return [];
    const record = before.policies.get(name);
    const next = after.policies.get(name);
    const isLess =
      !(next && sameValue(next.spec, spec)) &&
      !isDeniedBy(
        code,
        was,
        denies.map((one) => one.code),
        is,
        after.peers,
      );
    return isLess || (record && leavesOut(record, next ?? record, relabeled)) ? [name] : [];
  });
}

type Peers = NetworkState['peers'];

function isDeniedBy(
  code: PolicyCode,
  was: Reachability,
  denies: readonly PolicyCode[],
  is: Reachability,
  peers: Peers,
): boolean {
  // A list of peers that are gone means nobody.
  if (selectorWithin(code.subject, { peers: [] }, peers)) return true;
  const wider = denies.filter(
    ({ network, subject, expiresAt }) =>
      (network === undefined || network === code.network) &&
      expiresAt >= code.expiresAt &&
      selectorWithin(code.subject, subject, peers),
  );
  return DIRECTIONS.every((direction) => {
    const rules = wider.flatMap((one) => one[direction] ?? []);
    const spans = (of: Reachability, { ports }: RuleCode) => spansOf(of.parts.ports.describe(ports));
    const isCovered = (denied: readonly PortSpan[], covers: (rule: RuleCode) => boolean) =>
      rules.filter(covers).reduce((left, rule) => subtract(left, spans(is, rule)), denied).length === 0;
    const isStillIsolated = isIsolated(wider, direction) || isCovered(spansOf('ALL'), ({ anyone }) => anyone);
    if (code.isolates[direction] && !isStillIsolated) return false;
    return (code[direction] ?? []).every((rule) => {
      const denied = spans(was, rule);
      const addresses = addressesOf(rule);
      if (rule.anyone) return isCovered(denied, ({ anyone }) => anyone);
      const areCovered = rule.selectors.every((selector) =>
        isCovered(
          denied,
          ({ anyone, selectors }) => anyone || selectors.some((other) => selectorWithin(selector, other, peers)),
        ),
      );
      return (
        areCovered && (addresses.length === 0 || isCovered(denied, (other) => isSubset(addresses, addressesOf(other))))
      );
    });
  });
}

function isIsolated(denies: readonly PolicyCode[], direction: Direction): boolean {
  return denies.some(({ isolates }) => isolates[direction]);
}

/** Peers whose labels, network or address a change alters, as they were and as they are. */
function relabeledPeers(before: NetworkState, after: NetworkState): (readonly [PeerRecord, PeerRecord])[] {
  if (before.peers === after.peers) return [];
  return [...after.peers.values()].flatMap((peer) => {
    const old = lookUpById(before.peers, peer.uid);
    return old === undefined || old === peer ? [] : [[old, peer] as const];
  });
}

/** Returns true if a peer was a subject of a DENY, or at the other end of its rules, and is not any more. */
function leavesOut(
  { spec }: PolicyRecord,
  { spec: next }: PolicyRecord,
  relabeled: readonly (readonly [PeerRecord, PeerRecord])[],
): boolean {
  const rules = allRulesOf(spec);
  if (rules.length === 0) return false;
  const others = allRulesOf(next);
  return relabeled.some(
    ([old, peer]) =>
      (isSubject(spec, old) && !isSubject(next, peer)) ||
      rules.some(
        (rule) =>
          entriesMatch(rule.peers, old) &&
          !others.some((other) => isLike(rule, other) && entriesMatch(other.peers, peer)),
      ),
  );
}

function isLike(rule: Rule, other: Rule): boolean {
  return rule.direction === other.direction && sameValue(rule.ports, other.ports);
}
