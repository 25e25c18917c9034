import fc from 'fast-check';
import { expect, test } from 'vitest';
import { person } from '../../../test/kits/plane/kit.ts';
import { playHistory, randomHistory } from '../../../test/kits/plane/random-history.ts';
import { formatInstant, parseInstant } from '../../base/time.ts';
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
  let [older, cut] = [0, 0];
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
        const expected = holdingAt(intervals, at);
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
}, 120_000);

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
