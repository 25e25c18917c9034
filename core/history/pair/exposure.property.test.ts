import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  OUTSIDE_ADDRESSES,
  outsideAddressesIn,
  playHistory,
  randomHistory,
} from '../../../test/kits/plane/random-history.ts';
import { formatInstant, parseInstant } from '../../base/time.ts';
import { lookUp, lookUpById } from '../../model/find.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { exposureHistory } from './exposure.ts';
import { findIdentity, type Identity } from './identity.ts';
import { rangeOf } from './range.ts';

const STEP_MS = 500;

test('the intervals of an exposure cover the range exactly, and each instant is told as a look at that instant finds it', async () => {
  let cut = 0;
  await fc.assert(
    fc.asyncProperty(
      randomHistory,
      fc.constantFrom('web-1', 'db-1', 'bot-1'),
      fc.constantFrom('inbound' as const, 'outbound' as const),
      fc.integer({ min: -4, max: 12 }),
      fc.integer({ min: 0, max: 80 }),
      async (history, name, direction, first, length) => {
        const { kit, workspace, began, end } = await playHistory(history);
        await using _ = kit;
        const [from, to] = [first, first + length].map((step) => formatInstant(Math.min(end, began + step * STEP_MS)));
        if (from === undefined || to === undefined || parseInstant(to) < began) return;
        const range = await rangeOf(kit.services, workspace, { from, to });
        const peer = await findIdentity(kit.services, workspace, name, range);
        if (!peer) return;
        const asked = { peer: name, direction, from, to, limit: 200 };
        const { intervals, count } = await exposureHistory(kit.services, workspace, asked);
        expect(count).toBe(intervals.length);
        expect(intervals.map((one) => one.from)).toEqual([from, ...intervals.slice(0, -1).map((one) => one.to)]);
        expect(intervals.at(-1)?.to).toBe(to);
        expect(intervals.filter((one) => one.from === one.to && intervals.length > 1)).toEqual([]);
        for (const [index, one] of intervals.entries()) {
          const isFirst = index === 0 || intervals[index - 1]?.verdict === 'undetermined';
          expect([one.causes.length > 0, isFirst]).toEqual([!isFirst, isFirst]);
        }
        for (let at = range.from; at < range.to; at += STEP_MS) {
          const told = intervals.findLast((one) => parseInstant(one.from) <= at && at < parseInstant(one.to));
          if (at < range.since) expect(told?.verdict).toBe('undetermined');
          else {
            const state = await kit.services.states.asOf(workspace, { at });
            expect([at, told && shown(told)]).toEqual([at, lookedUp(state, at, peer, direction)]);
          }
        }
        cut += intervals.length - 1;
      },
    ),
    { numRuns: 60 },
  );
  expect(cut).toBeGreaterThan(60);
}, 240_000);

interface Told {
  readonly verdict: string;
  readonly reach: readonly { readonly peer_count: number; readonly allowed: unknown }[];
  readonly outside: readonly { readonly addresses: readonly string[]; readonly allowed: unknown }[] | null;
}

/** How many peers are reached on which ports, and which of the addresses. */
function shown({ verdict, reach, outside }: Told) {
  return {
    verdict,
    reach: reach.map(({ peer_count, allowed }) => [JSON.stringify(allowed), peer_count]).sort(),
    outside: (outside ?? [])
      .flatMap(({ addresses, allowed }) =>
        addresses.flatMap((term) => (outsideAddressesIn(term) ?? [term]).map((name) => [name, allowed])),
      )
      .sort(),
  };
}

function lookedUp(state: NetworkState, at: number, { uid, name }: Identity, direction: 'inbound' | 'outbound') {
  const own = (lookUpById(state.peers, uid) ?? lookUp(state.peers, name))?.name;
  const reach = compile({ ...modelOf(state, at), externals: OUTSIDE_ADDRESSES });
  const allowed = (other: string) =>
    own === undefined ? [] : direction === 'inbound' ? reach.allowed(other, own) : reach.allowed(own, other);
  const isOpen = (other: string) => allowed(other) === 'ALL' || allowed(other).length > 0;
  const others = [...state.peers.keys()].filter((other) => other !== own);
  const ready = others.filter((other) => state.peers.get(other)?.status.phase === 'ready');
  const byPorts = Map.groupBy(others.filter(isOpen), (other) => JSON.stringify(allowed(other)));
  const addresses = OUTSIDE_ADDRESSES.map((one) => one.name);
  const outside = addresses.filter(isOpen).map((one) => [one, allowed(one)]);
  const isWhole = [...ready, ...addresses].every((other) => allowed(other) === 'ALL');
  const isNothing = byPorts.size === 0 && outside.length === 0;
  return {
    verdict: isWhole ? 'reachable' : isNothing ? 'unreachable' : 'partial',
    reach: [...byPorts].map(([text, names]) => [text, names.length]).sort(),
    outside: outside.sort(),
  };
}
