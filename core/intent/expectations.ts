import type { NetworkState } from '../network/state.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { Expectation } from './planner.ts';
import { type PortSpan, spansOf, spanText, subtract } from './port-spans.ts';

/** An expectation that does not hold, with connections that show it. */
export interface Unmet extends Expectation {
  readonly detail: string;
}

const MAX_EXAMPLES = 3;

/** The expectations that do not hold in a state. One that means no peer at all does not hold: it proves nothing. */
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

function flawOf(expectation: Expectation, state: NetworkState, reachability: Reachability): string | undefined {
  const { src, dst, except = [], expect } = expectation;
  const left = new Set(except.flatMap((term) => namesOf(term, state)));
  const sources = namesOf(src, state).filter((name) => !left.has(name));
  const targets = namesOf(dst, state);
  if (namesOf(src, state).length === 0 || targets.length === 0) {
    return `no peer that is ready is meant by ${namesOf(src, state).length === 0 ? src : dst}`;
  }
  const flaws: string[] = [];
  let more = 0;
  for (const from of sources) {
    for (const to of targets) {
      if (from === to) continue;
      const wrong = wrongPorts(expectation, spansOf(reachability.allowed(from, to)));
      if (wrong.length === 0) continue;
      if (flaws.length < MAX_EXAMPLES) {
        flaws.push(`${from} ${expect === 'allow' ? 'cannot' : 'can still'} reach ${to} on ${spanText(wrong)}`);
      } else more += 1;
    }
  }
  if (flaws.length === 0) return undefined;
  return flaws.join('; ') + (more > 0 ? `; and ${more} more pairs` : '');
}

/** Ports that are asked for and closed, or forbidden and open. */
function wrongPorts(expectation: Expectation, open: readonly PortSpan[]): readonly PortSpan[] {
  const asked = askedPorts(expectation);
  const closed = subtract(asked, open);
  return expectation.expect === 'allow' ? closed : subtract(asked, closed);
}

function askedPorts({ protocol, port, endPort }: Expectation): readonly PortSpan[] {
  if (protocol === undefined) return spansOf('ALL');
  if (port === undefined) return spansOf('ALL').filter((span) => span.protocol === protocol);
  return [{ protocol, from: port, to: endPort ?? port }];
}

function namesOf(term: string, state: NetworkState): string[] {
  const ready = [...state.peers.values()].filter(({ status }) => status.phase === 'ready');
  if (term === '*') return ready.map(({ name }) => name);
  const at = term.indexOf('=');
  if (at < 0) return ready.filter(({ name }) => name === term).map(({ name }) => name);
  const [key, value] = [term.slice(0, at), term.slice(at + 1)];
  return ready.filter(({ labels }) => Object.hasOwn(labels, key) && labels[key] === value).map(({ name }) => name);
}
