import type { NetworkState } from '../network/state.ts';
import { pairsBetween, splitPorts } from '../reachability/pairs-between.ts';
import { ALL_PORTS, NO_PORTS, type PortSetId } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { Expectation } from './planner.ts';
import { spansOf, spanText } from './port-spans.ts';
import { namesOf } from './terms.ts';

/** An expectation that does not hold, with connections that show it. */
export interface Unmet extends Expectation {
  readonly detail: string;
}

const MAX_EXAMPLES = 3;

/**
 * The expectations that do not hold in a state. One that means no peer at all does not hold, nor does an `allow` without
 * a single pair: it proves nothing.
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

function flawOf(expectation: Expectation, state: NetworkState, reach: Reachability): string | undefined {
  const { src, dst, except = [], expect } = expectation;
  const unknown = [src, dst].find((term) => namesOf(term, state).length === 0);
  if (unknown !== undefined) return `no peer that is ready is meant by ${unknown}`;
  const left = new Set(except.flatMap((term) => namesOf(term, state)));
  const places = (names: readonly string[]) => names.flatMap((name) => reach.placeOf(name) ?? []);
  const sources = places(namesOf(src, state).filter((name) => !left.has(name)));
  const targets = places(namesOf(dst, state));
  const asked = askedPorts(expectation, reach);
  const flaws: string[] = [];
  let wrongPairs = 0;
  let pairs = 0;
  for (const group of pairsBetween(reach, sources, targets)) {
    pairs += group.pairs;
    const { open, closed } = splitPorts(reach, asked, group.ports);
    const wrong = expect === 'allow' ? closed : open;
    if (wrong === NO_PORTS) continue;
    wrongPairs += group.pairs;
    for (const [from, to] of examplesOf(group, MAX_EXAMPLES - flaws.length)) {
      const [fromName, toName] = [from, to].map((place) => reach.parts.endpoints[place]?.name ?? '');
      const ports = spanText(spansOf(reach.parts.ports.describe(wrong)));
      flaws.push(`${fromName} ${expect === 'allow' ? 'cannot' : 'can still'} reach ${toName} on ${ports}`);
    }
  }
  if (pairs === 0 && expect === 'allow') return `${src} and ${dst} mean no two peers, so there is nothing to open`;
  if (flaws.length === 0) return undefined;
  const more = wrongPairs - flaws.length;
  return flaws.join('; ') + (more > 0 ? `; and ${more} more pairs` : '');
}

function* examplesOf(
  { src, dst }: { readonly src: readonly number[]; readonly dst: readonly number[] },
  limit: number,
): Generator<[number, number]> {
  let left = limit;
  for (const from of src) {
    for (const to of dst) {
      if (left <= 0) return;
      if (from === to) continue;
      left -= 1;
      yield [from, to];
    }
  }
}

function askedPorts({ protocol, port, endPort }: Expectation, { parts: { ports } }: Reachability): PortSetId {
  if (protocol === undefined) return ALL_PORTS;
  return ports.ofEntries([{ protocol, ...(port !== undefined && { port, endPort: endPort ?? port }) }]);
}
