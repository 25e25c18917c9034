import { futureOf } from '../../authority/future.ts';
import { type JoinGrant, type Labels, labelSetsOf, selectorsOf } from '../../authority/label-sets.ts';
import { effectOf } from '../../effect/effect.ts';
import { type NetworkState, writtenPolicies } from '../../state/state.ts';
import type { ReachOf } from './policy-draft.ts';

export interface Trial {
  readonly before: NetworkState;
  readonly after: NetworkState;
  /** ms */
  readonly now: number;
  readonly isPersons: boolean;
  readonly reachOf: ReachOf;
}

/** Label sets beyond which not all of them are tried. */
const MAX_SETS = 40;

/** Returns true if a change certainly opens and closes nothing, now, later, and for devices with any labels that policies name. */
export function changesNothing(
  { before, after, now, isPersons, reachOf }: Trial,
  joins: readonly JoinGrant[],
): boolean {
  const [was, is] = [reachOf(before), reachOf(after)];
  const effect = effectOf(was, is);
  if (effect.groups.length > 0 || effect.outside?.length !== 0) return false;
  const named = namedGrants(before, after);
  if (!named) return false;
  const facts = { joins: [...joins, ...named], isPersons };
  const future = futureOf({ before, after, was, is, effect, now }, facts, { reachability: reachOf });
  return future.opened.digest === '' && future.closed.digest === '';
}

/** Returns labels that match any two selectors of policies at once, as join grants; undefined where these are too many. */
function namedGrants(...states: readonly NetworkState[]): JoinGrant[] | undefined {
  const selectors = states.flatMap((state) =>
    [...writtenPolicies(state).values()].flatMap(({ spec }) => selectorsOf(spec)),
  );
  const sets = distinct(selectors.flatMap((selector) => [...labelSetsOf(selector).take(MAX_SETS)]));
  if (sets.length > MAX_SETS) return undefined;
  const pairs = sets.flatMap((one, index) => sets.slice(index + 1).map((other): Labels => ({ ...one, ...other })));
  const networks = [...(states[0]?.networks.keys() ?? [])];
  const all = distinct([...sets, ...pairs]);
  return networks.flatMap((network) => all.map((labels) => ({ labels, network })));
}

function distinct(sets: readonly Labels[]): Labels[] {
  const keyOf = (set: Labels) => JSON.stringify(Object.entries(set).sort(([a], [b]) => (a < b ? -1 : 1)));
  return [...new Map(sets.map((set) => [keyOf(set), set])).values()];
}
