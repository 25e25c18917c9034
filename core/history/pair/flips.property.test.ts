import fc from 'fast-check';
import { expect, test } from 'vitest';
import { playHistory, randomHistory } from '../../../test/kits/plane/random-history.ts';
import type { Commit } from '../../base/ports.ts';
import { formatInstant, parseInstant } from '../../base/time.ts';
import { lookUp, lookUpById } from '../../model/find.ts';
import { compile } from '../../reachability/engine.ts';
import { explain } from '../../reachability/explain.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkServices } from '../../state/services.ts';
import type { NetworkState } from '../../state/state.ts';
import { pairHistory } from './flips.ts';
import { findIdentity } from './identity.ts';
import { pairRecords } from './pair-records.ts';
import { rangeOf } from './range.ts';
import type { PairQuestion } from './readings.ts';
import { intervalsOf, readingView } from './timeline.ts';

const ends = fc.constantFrom('web-1', 'web-1', 'db-1', 'db-1', 'db-2', 'bot-1', 'other');
const scope = fc.constantFrom({}, { protocol: 'TCP' as const, port: 443 }, { protocol: 'UDP' as const });

test('the search finds the flips that a look at every revision and expiry finds, and the timeline has every instant right', async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      randomHistory,
      fc.record({ src: ends, dst: ends, scope, from: fc.nat(12), length: fc.integer({ min: 10, max: 80 }) }),
      async (history, asked) => {
        const { kit, workspace, began, end, commits } = await playHistory(history);
        await using _ = kit;
        const from = formatInstant(Math.min(end, began + asked.from * 500));
        const to = formatInstant(Math.min(end, began + (asked.from + asked.length) * 500));
        const range = await rangeOf(kit.services, workspace, { from, to });
        const [src, dst] = await Promise.all(
          [asked.src, asked.dst].map((name) => findIdentity(kit.services, workspace, name, range)),
        );
        if (!src || !dst) return;
        const question = { src, dst, ...asked.scope };
        const records = await pairRecords(kit.services, workspace, question, range);
        const { first, flips } = pairHistory(records, range.since, question);
        const got = [first, ...flips.map(({ after }) => after)].map(({ at, revision, reading }) => {
          const { verdict, allowed, usable, presence } = reading;
          return { at, revision, verdict, allowed, usable, presence };
        });
        expect(plain(got)).toEqual(plain(await everyMoment(kit.services, workspace, question, range, commits)));
        const intervals = intervalsOf({ first, flips }, range);
        expect(intervals.map((interval) => interval.from)).toEqual([
          range.from,
          ...intervals.slice(0, -1).map((one) => one.to),
        ]);
        expect(intervals.at(-1)?.to).toBe(range.to);
        for (let at = range.since; at < range.to; at += 500) {
          const interval = intervals.findLast((one) => one.from <= at && at < one.to);
          const then = readingOf(await kit.services.states.asOf(workspace, { at }), at, question);
          expect(interval?.moment && key(readingView(interval.moment.reading))).toBe(key(then));
        }
        found += flips.length;
      },
    ),
    { numRuns: 100 },
  );
  expect(found).toBeGreaterThan(60);
}, 120_000);

/** A flip is told once; in a revision that changed nothing that decides, the one in force may be told by another number. */
function plain(moments: readonly { readonly revision: number; readonly presence: unknown }[]) {
  return moments.map(({ revision: _, presence: _presence, ...rest }) => rest);
}

/** The same by brute force: the whole network at each revision of the range, and at each instant at which anything ends. */
async function everyMoment(
  { states, store }: Pick<NetworkServices, 'states' | 'store'>,
  workspace: string,
  question: PairQuestion,
  { since, to, first, last }: { since: number; to: number; first: number; last: number },
  commits: readonly Commit[],
) {
  const readings: ReturnType<typeof readingOf>[] = [];
  const look = (state: NetworkState, at: number) => {
    const reading = readingOf(state, at, question);
    const before = readings.at(-1);
    if (!before || key(before) !== key(reading)) readings.push(reading);
  };
  let state = await states.asOf(workspace, { revision: first });
  let begun = since;
  look(state, since);
  const all = commits.length === 0 ? [] : await store.commits(workspace, first, 1_000);
  for (const { revision, at } of all.filter((commit) => commit.revision <= last)) {
    lookAtEnds(at);
    state = await states.asOf(workspace, { revision });
    look(state, at);
    begun = at;
  }
  lookAtEnds(to);
  return readings;

  function lookAtEnds(until: number) {
    const records = [...state.peers.values(), ...state.policies.values(), ...state.agents.values()];
    const instants = records.flatMap(({ spec }) =>
      spec.expiresAt === undefined ? [] : [parseInstant(spec.expiresAt)],
    );
    for (const at of [...new Set(instants)].sort((a, b) => a - b)) if (at > begun && at <= until) look(state, at);
  }
}

function readingOf(state: NetworkState, at: number, { src, dst, protocol, port }: PairQuestion) {
  const named = ({ uid, name }: PairQuestion['src']) =>
    (lookUpById(state.peers, uid) ?? lookUp(state.peers, name))?.name;
  const [from, to] = [named(src), named(dst)];
  const query = { src: from ?? src.name, dst: to ?? dst.name, protocol, port };
  const { verdict, allowed } = explain(compile(modelOf(state, at)), query);
  const onlineOf = (name: string | undefined) =>
    name === undefined ? 'unknown' : state.presence.get(name)?.spec.online ? 'online' : 'offline';
  const presence = { src: onlineOf(from), dst: onlineOf(to) };
  const usable = verdict !== 'unreachable' && presence.src === 'online' && presence.dst === 'online';
  return { at, revision: state.revision, verdict, allowed, usable, presence };
}

function key({
  verdict,
  allowed,
  usable,
}: Pick<ReturnType<typeof readingOf>, 'verdict' | 'allowed' | 'usable'>): string {
  return JSON.stringify([verdict, allowed, usable]);
}
