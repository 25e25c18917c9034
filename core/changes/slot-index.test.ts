import fc from 'fast-check';
import { expect, test } from 'vitest';
import { network, peer, quarantine } from '../../test/kits/records/records.ts';
import type { StoredRecord } from '../base/record.ts';
import { type NetworkState, nextState, stateOf, trackedState } from '../state/state.ts';
import { formatAddress, hostRange } from './address.ts';
import { FreeAddresses } from './free-addresses.ts';
import { slotIndexOf } from './slot-index.ts';

const NOW = 1_000;
const CIDRS = ['10.96.0.0/29', '10.96.0.0/28', '10.97.0.0/30'];
const hosts = ['10.96.0.1', '10.96.0.2', '10.96.0.3', '10.96.0.4', '10.96.0.5', '10.96.0.6', '10.97.0.1', '10.97.0.2'];
const start = trackedState(stateOf('w', 1, [network('default')]));

const step = fc.record({
  address: fc.constantFrom(...hosts),
  is: fc.constantFrom('held', 'freed', 'free', 'keyed' as const),
  until: fc.integer({ min: NOW, max: NOW + 20 }),
  now: fc.integer({ min: NOW, max: NOW + 20 }),
});

function after(state: NetworkState, put: readonly StoredRecord[], gone: readonly StoredRecord[]): NetworkState {
  const changes = [
    ...put.map((record) => ({ type: 'updated' as const, record })),
    ...gone.map((record) => ({ type: 'deleted' as const, record })),
  ];
  return nextState(state, { revision: state.revision + 1, changes: changes as never });
}

test('what is free, and who has a key, is what a look at everything finds, whatever has come and gone and whatever the clock says', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let state = start;
      for (const { address, is, until, now } of steps) {
        const name = `p-${address}`;
        const unique = [`slot:${hosts.indexOf(address)}`];
        const own = { ...peer(name, { address, publicKey: is === 'keyed' ? `${name}-${until}` : name }), unique };
        const resting = quarantine(address, until);
        if (is === 'held' || is === 'keyed') state = after(state, [own], [resting]);
        else state = after(state, is === 'freed' ? [resting] : [], is === 'freed' ? [own] : [own, resting]);
        const places = slotIndexOf(state);
        const all = [...state.peers.values()];
        const taken = new Set(all.flatMap((one) => one.unique));
        expect({
          addresses: CIDRS.map((cidr) => places.nextAddress(cidr, now)),
          keys: all.map(({ spec }) => places.peerWithKey(spec.publicKey)?.name),
          gone: places.peerWithKey('nobody'),
          slot: places.lowestFreeSlot(),
        }).toEqual({
          addresses: CIDRS.map((cidr) => plainNext(state, cidr, now)),
          keys: all.map((one) => one.name),
          gone: undefined,
          slot: [...hosts.keys(), hosts.length].find((slot) => !taken.has(`slot:${slot}`)),
        });
      }
    }),
    { numRuns: 500 },
  );
});

/** By a look at every address: the lowest that is neither held nor in quarantine, or else the one whose quarantine ends first. */
function plainNext({ peers, quarantine: quarantined }: NetworkState, cidr: string, now: number): string | undefined {
  const { first, last } = hostRange(cidr) ?? { first: 0, last: -1 };
  const hosts = Array.from({ length: last - first + 1 }, (_, nth) => formatAddress(first + nth));
  const held = new Set([...peers.values()].map(({ status }) => status.address));
  const until = (address: string) => Math.max(now, quarantined.get(address)?.spec.until ?? now);
  return hosts.filter((address) => !held.has(address)).sort((a, b) => until(a) - until(b))[0];
}

test('what is claimed is given to no other, and is free again when nothing came of it', () => {
  const places = slotIndexOf(start);
  expect([places.claim('10.97.0.0/30', NOW), places.claim('10.97.0.0/30', NOW)]).toEqual(['10.97.0.1', '10.97.0.2']);
  expect(places.claim('10.97.0.0/30', NOW)).toBeUndefined();
  expect(slotIndexOf(start).claim('10.97.0.0/30', NOW)).toBe('10.97.0.1');
  const next = after(start, [peer('web', { address: '10.97.0.1' })], []);
  expect(slotIndexOf(next).claim('10.97.0.0/30', NOW)).toBe('10.97.0.2');
});

test('the next address is found by a few look-ups, however many have left', () => {
  const until = new Map<string, number>();
  let looks = 0;
  const free = new FreeAddresses('10.96.0.0/16', {
    isHeld: () => {
      looks += 1;
      return false;
    },
    quarantinedUntil: (address) => until.get(address),
  });
  const most: number[] = [];
  for (let nth = 0; nth < 20_000; nth += 1) {
    looks = 0;
    const address = free.next(nth) ?? '';
    // It is given and freed at once, and rests longer than all of this takes.
    until.set(address, nth + 100_000);
    free.changed(address);
    most.push(looks);
  }
  expect(Math.max(...most)).toBeLessThanOrEqual(4);
});
