import { memoize } from '../base/memoize.ts';
import { beginOf, begun } from '../model/policy-match.ts';
import { RecordMap } from '../model/record-map.ts';
import type { PolicyRecord } from '../model/resources.ts';
import type { NetworkState } from './state.ts';

/** Different instants at which policies of a workspace begin, at most: every change is judged at each of them too. */
export const MAX_BEGINS = 10;

/** A begin that is so near means now, ms. */
export const BEGIN_SLACK_MS = 10_000;

const begunRecord = memoize((record: PolicyRecord): PolicyRecord => ({ ...record, spec: begun(record.spec) }));

/** Returns a state in which the policies that begin by an instant have begun. */
export function stateAt(state: NetworkState, at: number): NetworkState {
  const due = [...state.waiting.values()].filter(({ spec }) => beginOf(spec) <= at);
  if (due.length === 0) return state;
  const changed = <T>(changeOf: (record: PolicyRecord) => T) =>
    new Map(due.map((record) => [record.name, changeOf(record)] as const));
  return {
    ...state,
    policies: RecordMap.from(state.policies).branch(changed(begunRecord)),
    waiting: RecordMap.from(state.waiting).branch(changed(() => undefined)),
  };
}

/** Returns the instants at which policies begin, in their order, ms. */
export function beginsOf(...states: readonly NetworkState[]): number[] {
  const all = states.flatMap(({ waiting }) => [...waiting.values()].map(({ spec }) => beginOf(spec)));
  return [...new Set(all)].sort((a, b) => a - b);
}

/** Returns the instants at which the waiting policies begin that a change writes or deletes, in their order, ms. */
export function changedBegins(before: NetworkState, after: NetworkState): number[] {
  if (before.waiting === after.waiting) return [];
  const names = new Set([...before.waiting.keys(), ...after.waiting.keys()]);
  const begins = [...names].flatMap((name) => {
    const [old, next] = [before.waiting.get(name), after.waiting.get(name)];
    return old === next ? [] : [old, next].flatMap((one) => (one ? beginOf(one.spec) : []));
  });
  return [...new Set(begins)].sort((a, b) => a - b);
}

/**
 * Returns the first instant at which a change changes anything: the begin of a policy where all that it writes or deletes
 * waits, else now. A change is judged and shown as of then.
 */
export function momentOf(before: NetworkState, after: NetworkState, now: number): number {
  const [first = now] = changedBegins(before, after);
  const isOther = (['peers', 'policies', 'networks', 'agents'] as const).some(
    (field) => before[field] !== after[field],
  );
  return isOther ? now : Math.max(now, first);
}
