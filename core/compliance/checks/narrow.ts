import { memoize } from '../../base/memoize.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { parseCidr } from '../../model/cidr.ts';
import type { PeerEntry, PolicySpec } from '../../model/policy.ts';
import { type Direction, matchesAnyone, replacingRules } from '../../model/policy-match.ts';
import { isSubset, sizeOf, union } from '../../model/ranges.ts';
import { matchesFuturePeers, rangesOf } from '../open-to-anyone.ts';
import type { AllowRule, View } from '../view.ts';

/** The policies of some rules, each of which keeps the peers that it names and the addresses that the workspace lists. */
export function narrowPolicies(
  view: View,
  rules: readonly (readonly [Direction, readonly AllowRule[]])[],
): NetworkChange[] {
  const specs = new Map<string, PolicySpec>();
  for (const [direction, own] of rules) {
    for (const [name, some] of Map.groupBy(own, ({ policy }) => policy.name)) {
      const spec = specs.get(name) ?? some[0]?.spec;
      if (spec) specs.set(name, narrowed(view, spec, direction, new Set(some.map(({ index }) => index))));
    }
  }
  return [...specs].map(([name, spec]): NetworkChange => ({ action: 'update', resource: 'MeshPolicy', name, spec }));
}

/** A rule is left out where it names nobody else. */
function narrowed(view: View, spec: PolicySpec, direction: Direction, meant: ReadonlySet<number>): PolicySpec {
  const kept = (entries: readonly PeerEntry[]) =>
    entries.filter((entry) => {
      const isWide = matchesFuturePeers(entry) || sizeOf(rangesOf([entry])) > MOST_BY_ADDRESS;
      return !isWide && !namesUnlisted(view, [entry]);
    });
  return replacingRules(spec, (rule, index) => {
    if (rule.direction !== direction || !meant.has(index)) return [rule];
    const peers = kept(rule.peers);
    return peers.length === 0 ? [] : [{ ...rule, peers }];
  });
}

/** Addresses of peers that one block may name and still be who is meant. */
const MOST_BY_ADDRESS = 256n;

/** Returns true if entries name addresses outside of the networks that the workspace does not list as sources. */
export function namesUnlisted(view: View, entries: readonly PeerEntry[]): boolean {
  return matchesAnyone(entries) || !isSubset(rangesOf(entries), knownRanges(view));
}

/** Returns the address ranges of the networks and of the sources that the workspace lists. */
const knownRanges = memoize(({ state, sources }: View) => {
  const networks = [...state.networks.values()].map(({ spec }) => spec.cidr);
  return union([...networks, ...sources].flatMap((text) => parseCidr(text) ?? []));
});
