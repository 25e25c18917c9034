import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Kit, person } from '../../../test/kits/plane/kit.ts';
import { playHistory, randomHistory } from '../../../test/kits/plane/random-history.ts';
import { formatInstant, parseInstant } from '../../base/time.ts';
import { lookUpById } from '../../model/find.ts';
import { verdictSpan } from './verdict-span.ts';

const ends = fc.constantFrom('web-1', 'web-1', 'db-1', 'db-1', 'db-2', 'bot-1');
const scope = fc.constantFrom({}, { protocol: 'TCP' as const, port: 443 }, { protocol: 'UDP' as const });

interface Interval {
  readonly from: string;
  readonly to: string;
  readonly verdict: string;
  readonly allowed: unknown;
}

test('an answer holds from and to the instants between which the history of the pair has that verdict, and a search that is cut says no false instant', async () => {
  let [older, cut, joined] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(
      randomHistory,
      fc.record({ src: ends, dst: ends, scope, seconds: fc.nat(30) }),
      async (history, { src, dst, scope: on, seconds }) => {
        const { kit, workspace, began, end } = await playHistory(history);
        await using _ = kit;
        const instant = Math.min(end, began + seconds * 1_000);
        const at = formatInstant(instant);
        const ask = (tool: string, raw: Record<string, unknown>) =>
          kit.call(tool, raw, { as: person('admin', workspace), workspace });
        const { peers } = await kit.services.states.asOf(workspace, { at: instant });
        const pair = { src: peers.get(src)?.uid, dst: peers.get(dst)?.uid, ...on };
        if (pair.src === undefined || pair.dst === undefined) return;
        const answer = await ask('check_connectivity_at', { ...pair, at });
        const { intervals } = await ask('get_connectivity_history', {
          ...pair,
          from: formatInstant(began),
          limit: 200,
        });
        const there = await bothExist(kit, workspace, instant, [src, dst]);
        const holding = holdingAt(intervals, at);
        const expected = {
          valid_from: [holding.valid_from, there.from].toSorted().at(-1),
          valid_to: [holding.valid_to, there.to].filter((one) => one !== null).toSorted()[0] ?? null,
        };
        if (expected.valid_from !== holding.valid_from) joined += 1;
        const { valid_from, valid_to, at_least_from } = answer;
        expect(at_least_from).toBeUndefined();
        expect({ valid_from, valid_to }).toEqual(expected);
        if (valid_from < at) older += 1;
        const state = await kit.services.states.asOf(workspace, { at: instant });
        const named = (name: string) => state.peers.get(name) ?? expect.fail();
        const asked = { src: named(src), dst: named(dst), ...on };
        const spanIn = (windows: readonly number[]) => verdictSpan(kit.services, state, instant, asked, windows);
        const instantOf = (text: string | null | undefined) => (text ? parseInstant(text) : undefined);
        const exact = { from: instantOf(valid_from), to: instantOf(valid_to) };
        const stepwise = await spanIn(Array.from({ length: 60 }, () => 1));
        expect({ from: stepwise.from.at, to: stepwise.to?.at }).toEqual(exact);
        const bounded = await spanIn([1, 1]);
        if (bounded.from.isExact) expect(bounded.from.at).toBe(exact.from);
        else cut += 1;
        expect(bounded.from.at).toBeGreaterThanOrEqual(exact.from ?? Number.NaN);
        expect(bounded.from.at).toBeLessThanOrEqual(instant);
        if (bounded.to?.isExact === true) expect(bounded.to.at).toBe(exact.to);
        else expect(bounded.to?.at ?? instant).toBeLessThanOrEqual(exact.to ?? Number.POSITIVE_INFINITY);
      },
    ),
    { numRuns: 150 },
  );
  expect(older).toBeGreaterThan(40);
  expect(cut).toBeGreaterThan(10);
  expect(joined).toBeGreaterThan(0);
}, 120_000);

/** The span around an instant in which both ends exist. */
async function bothExist(
  { services: { store, states } }: Kit,
  workspace: string,
  instant: number,
  names: readonly string[],
) {
  const { peers } = await states.asOf(workspace, { at: instant });
  const uids = names.map((name) => peers.get(name)?.uid ?? expect.fail());
  const commits = await store.commits(workspace, 0, 1_000);
  // The last commit of several in one instant counts.
  const newest = [...new Map(commits.map(({ at, revision }) => [at, revision]))];
  const moments = await Promise.all(
    newest.map(async ([at, revision]) => {
      const state = await states.asOf(workspace, { revision });
      const exists = names.every((name, side) => state.peers.has(name) || lookUpById(state.peers, uids[side] ?? ''));
      return { at, exists };
    }),
  );
  const gone = moments.findLastIndex(({ at, exists }) => at <= instant && !exists);
  const end = moments.find(({ at, exists }) => at > instant && !exists);
  return {
    from: formatInstant(moments[gone + 1]?.at ?? expect.fail()),
    to: end === undefined ? null : formatInstant(end.at),
  };
}

/** The interval of an instant and its neighbors that differ in presence alone. */
function holdingAt(intervals: readonly Interval[], at: string) {
  const index = intervals.findLastIndex(({ from }) => from <= at);
  const key = ({ verdict, allowed }: Interval) => JSON.stringify([verdict, allowed]);
  const isSame = (one: Interval | undefined) => one && key(one) === key(intervals[index] ?? expect.fail());
  let [first, last] = [index, index];
  while (isSame(intervals[first - 1])) first -= 1;
  while (isSame(intervals[last + 1])) last += 1;
  return {
    valid_from: intervals[first]?.from,
    valid_to: last === intervals.length - 1 ? null : intervals[last]?.to,
  };
}
