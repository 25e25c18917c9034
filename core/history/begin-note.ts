import { formatSecond } from '../base/time.ts';
import { beginOf, isSubject } from '../model/policy-match.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { Explanation, Verdict } from '../reachability/explanation.ts';
import { beginsOf, stateAt } from '../state/begins.ts';
import type { NetworkState } from '../state/state.ts';

/** Policies that one sentence names. */
const MAX_NAMED = 5;

const THEN: Readonly<Record<Verdict, string>> = {
  reachable: 'it is open',
  unreachable: 'it is closed',
  partial: 'a part of it is open',
};

/**
 * Returns a sentence about the next policies that wait and change an answer once they begin; undefined where none does.
 *
 * @param peers the ends of the connection that are peers
 * @param judge answers in a state at an instant, ms
 */
export function beginNote(
  state: NetworkState,
  peers: readonly PeerRecord[],
  judge: (state: NetworkState, at: number) => Explanation,
): string | undefined {
  const waiting = [...state.waiting.values()].filter(({ spec }) => peers.some((peer) => isSubject(spec, peer)));
  for (const at of beginsOf(state)) {
    const beginning = waiting.filter(({ spec }) => beginOf(spec) === at);
    if (beginning.length === 0) continue;
    const [was, is] = [judge(stateAt(state, at - 1), at), judge(stateAt(state, at), at)];
    if (was.verdict === is.verdict && JSON.stringify(was.allowed) === JSON.stringify(is.allowed)) continue;
    const names = beginning.slice(0, MAX_NAMED).map(({ name }) => name);
    const more = beginning.length > MAX_NAMED ? ` and ${beginning.length - MAX_NAMED} more` : '';
    const [noun, verb] = beginning.length === 1 ? ['policy', 'begins'] : ['policies', 'begin'];
    return `From ${formatSecond(at)} on ${THEN[is.verdict]}, when the ${noun} ${names.join(', ')}${more} ${verb}.`;
  }
  return undefined;
}
