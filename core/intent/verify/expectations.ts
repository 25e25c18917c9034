import { spansOf, spanText } from '../../effect/port-spans.ts';
import { type Ranges, union, without } from '../../model/ranges.ts';
import { blocksAt, withExternals } from '../../reachability/externals.ts';
import { externalOf, networksOf, stretchesOf } from '../../reachability/outside.ts';
import { countPairs, examplesOf, pairsBetween, placeGroups, splitPorts } from '../../reachability/pairs-between.ts';
import { ALL_PORTS, NO_PORTS, type PortSetId } from '../../reachability/port-sets.ts';
import { rangeNames } from '../../reachability/range-names.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import { type Ends, endsOf } from '../../state/terms.ts';
import type { Expectation } from './expectation.ts';

/** An expectation that does not hold, with connections that show it. */
export interface Unmet extends Expectation {
  readonly detail: string;
}

const MAX_EXAMPLES = 3;

/**
 * The expectations that do not hold in a state. One that means no peer at all does not hold, nor does an `allow` without
 * a single pair: it proves nothing. A range of addresses is tried with one of each stretch that policies tell apart.
 */
export function unmetExpectations(
  expectations: readonly Expectation[],
  state: NetworkState,
  reachability: Reachability,
): Unmet[] {
  return expectations.flatMap((expectation) => {
    const detail = flawOf(expectation, state, reachability);
    return detail === undefined ? [] : [{ ...expectation, detail }];
  });
}

/** An end of a connection without who and what is left out. */
export function leftOf({ peers, ranges }: Ends, except: readonly string[], state: NetworkState): Ends {
  if (except.length === 0) return { peers, ranges };
  const gone = except.map((term) => endsOf(term, state));
  const names = new Set(gone.flatMap((one) => one.peers));
  return {
    peers: peers.filter((name) => !names.has(name)),
    ranges: without(ranges, union(gone.flatMap((one) => one.ranges))),
  };
}

function flawOf(expectation: Expectation, state: NetworkState, whole: Reachability): string | undefined {
  const { src, dst, except = [], expect } = expectation;
  const [from, to] = [leftOf(endsOf(src, state), except, state), endsOf(dst, state)];
  const extended = extend(whole, from, to);
  if (!extended) return `${src} and ${dst} are more ranges of addresses than can be checked: name fewer`;
  const { reach, sides, titles } = extended;
  for (const term of [src, dst]) {
    const { peers, ranges } = endsOf(term, state);
    if (peers.length > 0 || (ranges.length > 0 && without(ranges, networksOf(whole)).length > 0)) continue;
    return `no peer that is ready is meant by ${term}`;
  }
  const [sources, targets] = sides;
  const asked = askedPorts(expectation, reach);
  const flaws: string[] = [];
  let wrongPairs = 0;
  let pairs = 0;
  for (const group of pairsBetween(reach, placeGroups(reach, sources), placeGroups(reach, targets))) {
    pairs += 1;
    const { open, closed } = splitPorts(reach, asked, group.ports);
    const wrong = expect === 'allow' ? closed : open;
    if (wrong === NO_PORTS) continue;
    wrongPairs += countPairs(group);
    const ports = spanText(spansOf(reach.parts.ports.describe(wrong)));
    const verb = expect === 'allow' ? 'cannot' : 'can still';
    for (const [one, other] of examplesOf(reach, group, MAX_EXAMPLES - flaws.length)) {
      flaws.push(`${titles.get(one) ?? one} ${verb} reach ${titles.get(other) ?? other} on ${ports}`);
    }
  }
  if (pairs === 0 && expect === 'allow') return `${src} and ${dst} mean no two peers, so there is nothing to open`;
  if (flaws.length === 0) return undefined;
  const more = wrongPairs - flaws.length;
  return flaws.join('; ') + (more > 0 ? `; and ${more} more pairs` : '');
}

interface Extended {
  readonly reach: Reachability;
  /** Names of sources and targets. */
  readonly sides: readonly [readonly string[], readonly string[]];
  /** Stretches of addresses in words, by their name in `reach`. */
  readonly titles: ReadonlyMap<string, string>;
}

/** The network with the stretches of both ends beside its peers; undefined where they are too many. */
export function extend(reach: Reachability, from: Ends, to: Ends): Extended | undefined {
  const sides = [from, to] as const;
  if (sides.every(({ ranges }) => ranges.length === 0)) {
    return { reach, sides: [from.peers, to.peers], titles: new Map() };
  }
  const inside = networksOf(reach);
  const places = new Set(sides.flatMap(({ peers }) => peers.flatMap((name) => reach.placeOf(name) ?? [])));
  const blocks = [...blocksAt(reach, places)];
  const stretches = sides.map(({ ranges }): Ranges[] | undefined =>
    ranges.length === 0 ? [] : stretchesOf(blocks, inside, ranges),
  );
  const [sources, targets] = stretches;
  if (!sources || !targets) return undefined;
  const all = [...sources, ...targets];
  const externals = new Map(all.map((stretch) => [externalOf(stretch).name, externalOf(stretch)]));
  const titles = new Map(all.map((stretch) => [externalOf(stretch).name, titleOf(stretch, inside)]));
  const namesOf = ({ peers }: Ends, of: readonly Ranges[]) => [...peers, ...of.map((one) => externalOf(one).name)];
  return {
    reach: withExternals(reach, [...externals.values()]),
    sides: [namesOf(from, sources), namesOf(to, targets)],
    titles,
  };
}

function titleOf(stretch: Ranges, inside: Ranges): string {
  const [first = '', ...more] = rangeNames(stretch, inside, []);
  return more.length === 0 ? first : `${first} and ${more.length} more`;
}

function askedPorts({ protocol, port, endPort }: Expectation, { parts: { ports } }: Reachability): PortSetId {
  if (protocol === undefined) return ALL_PORTS;
  return ports.ofEntries([{ protocol, ...(port !== undefined && { port, endPort: endPort ?? port }) }]);
}
