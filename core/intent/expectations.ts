import type { NetworkState } from '../network/state.ts';
import { namesOf } from '../network/terms.ts';
import { countPairs, examplesOf, pairsBetween, placeGroups, splitPorts } from '../reachability/pairs-between.ts';
import { ALL_PORTS, NO_PORTS, type PortSetId } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { Expectation } from './planner.ts';
import { spansOf, spanText } from './port-spans.ts';

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

/** Whether an expectation means any connection at all; one that means none holds and says nothing. */
export function saysSomething({ src, dst, except = [] }: Expectation, state: NetworkState): boolean {
  const left = new Set(except.flatMap((term) => namesOf(term, state)));
  const sources = namesOf(src, state).filter((name) => !left.has(name));
  const [first, ...others] = namesOf(dst, state);
  return sources.length > 0 && first !== undefined && (others.length > 0 || sources.some((name) => name !== first));
}

function flawOf(expectation: Expectation, state: NetworkState, reach: Reachability): string | undefined {
  const { src, dst, except = [], expect } = expectation;
  const unknown = [src, dst].find((term) => namesOf(term, state).length === 0);
  if (unknown !== undefined) return `no peer that is ready is meant by ${unknown}`;
  const left = new Set(except.flatMap((term) => namesOf(term, state)));
  const sources = placeGroups(
    reach,
    left.size === 0 ? namesOf(src, state) : namesOf(src, state).filter((name) => !left.has(name)),
  );
  const targets = placeGroups(reach, namesOf(dst, state));
  const asked = askedPorts(expectation, reach);
  const flaws: string[] = [];
  let wrongPairs = 0;
  let pairs = 0;
  for (const group of pairsBetween(reach, sources, targets)) {
    pairs += 1;
    const { open, closed } = splitPorts(reach, asked, group.ports);
    const wrong = expect === 'allow' ? closed : open;
    if (wrong === NO_PORTS) continue;
    wrongPairs += countPairs(group);
    const ports = spanText(spansOf(reach.parts.ports.describe(wrong)));
    const verb = expect === 'allow' ? 'cannot' : 'can still';
    for (const [from, to] of examplesOf(reach, group, MAX_EXAMPLES - flaws.length)) {
      flaws.push(`${from} ${verb} reach ${to} on ${ports}`);
    }
  }
  if (pairs === 0 && expect === 'allow') return `${src} and ${dst} mean no two peers, so there is nothing to open`;
  if (flaws.length === 0) return undefined;
  const more = wrongPairs - flaws.length;
  return flaws.join('; ') + (more > 0 ? `; and ${more} more pairs` : '');
}

function askedPorts({ protocol, port, endPort }: Expectation, { parts: { ports } }: Reachability): PortSetId {
  if (protocol === undefined) return ALL_PORTS;
  return ports.ofEntries([{ protocol, ...(port !== undefined && { port, endPort: endPort ?? port }) }]);
}
