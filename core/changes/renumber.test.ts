import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { network, peer, quarantine, stateWith } from '../../test/kits/records/records.ts';
import { MeshError } from '../base/errors.ts';
import { parseInstant } from '../base/time.ts';
import { RENUMBERING_MS } from '../model/renumbering.ts';
import type { NetworkState } from '../state/state.ts';
import { nextState, trackedState } from '../state/state.ts';
import { ADDRESS_QUARANTINE_MS, addressNumber, formatAddress, hostCount, hostRange } from './address.ts';
import { type NetworkChange, planChanges } from './changes.ts';
import { addressesOf, afterRenumbering, formerAddressOf } from './renumber.ts';

const NOW = 1_800_000_000_000;
const OLD = '10.96.0.0/24';
const NEW = '10.97.8.0/24';

const renumber = (cidr: string, name = 'default'): NetworkChange => ({
  action: 'update',
  resource: 'MeshNetwork',
  name,
  spec: { cidr, mtu: 1280, defaultAction: 'ALLOW' },
});
const addresses = (state: NetworkState) =>
  Object.fromEntries([...state.peers.values()].map((one) => [one.name, addressesOf(one, state)]));

function refusal(state: NetworkState, ...changes: NetworkChange[]): string {
  try {
    planChanges(state, changes, NOW);
  } catch (error) {
    if (error instanceof MeshError) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('was not refused');
}

/** The state once former blocks are carried, or have rested, for so long. */
function later(state: NetworkState, now: number): NetworkState {
  const changes = [...state.networks.values()].flatMap((before) => {
    const op = afterRenumbering(before, now);
    return op?.op === 'update'
      ? [{ type: 'updated' as const, record: { ...before, ...op.record } as never, before }]
      : [];
  });
  return nextState(state, { revision: state.revision + 1, changes });
}

const web = peer('web', { address: '10.96.0.5', revision: 4, labels: { role: 'web' } });
const two = stateWith(network('default'), web, peer('db', { address: '10.96.0.254', revision: 5 }), peer('new'));

test('each peer keeps its place in the new block, and its address of the old one beside', () => {
  const { after, ops, outcomes } = planChanges(two, [renumber(NEW)], NOW);
  expect(addresses(after)).toEqual({
    web: ['10.97.8.5', '10.96.0.5'],
    db: ['10.97.8.254', '10.96.0.254'],
    new: [],
  });
  expect(outcomes).toEqual([{ outcome: 'updated', name: 'default' }]);
  expect(ops).toMatchObject([
    { op: 'update', record: { kind: 'MeshNetwork', status: { former: { cidr: OLD, phase: 'carried' } } } },
    { op: 'update', revision: 4, record: { name: 'web', unique: ['ip:10.97.8.5'] } },
    { op: 'update', revision: 5, record: { name: 'db', unique: ['ip:10.97.8.254'] } },
  ]);
});

test('the old addresses go after their time, and their block is free once no node knows them', () => {
  const { after } = planChanges(trackedState(two), [renumber(NEW)], NOW);
  const state = trackedState(after);
  const { former } = state.networks.get('default')?.status ?? {};
  expect(parseInstant(former?.until ?? '')).toBe(NOW + RENUMBERING_MS);
  expect(later(state, NOW + RENUMBERING_MS - 1).networks).toEqual(state.networks);
  const resting = later(state, NOW + RENUMBERING_MS);
  expect(addresses(resting)).toMatchObject({ web: ['10.97.8.5'] });
  const lab = { ...renumber(OLD, 'lab'), action: 'create' } as NetworkChange;
  expect(refusal(resting, lab)).toMatch(/overlaps 10\.96\.0\.0\/24.*try again after/);
  const free = later(resting, NOW + RENUMBERING_MS + ADDRESS_QUARANTINE_MS);
  expect(free.networks.get('default')?.status).toEqual({});
  expect(planChanges(free, [lab], NOW).outcomes[0]?.outcome).toBe('created');
});

test('back to the old block at once, peers have their addresses of before, and carry those of the new one', () => {
  const { after } = planChanges(two, [renumber(NEW)], NOW);
  const back = planChanges(after, [renumber(OLD)], NOW + 60_000).after;
  expect(addresses(back)).toMatchObject({ web: ['10.96.0.5', '10.97.8.5'], db: ['10.96.0.254', '10.97.8.254'] });
});

test('a peer whose labels or network the same batch changes has the new labels and one address of its network', () => {
  const state = stateWith(
    network('default'),
    network('lab', { cidr: '10.98.0.0/24' }),
    web,
    peer('db', { address: '10.96.0.1' }),
  );
  const { after, ops } = planChanges(
    state,
    [
      renumber(NEW),
      { action: 'update', resource: 'MeshPeer', name: 'web', labels: { role: 'proxy' } },
      { action: 'update', resource: 'MeshPeer', name: 'db', network: 'lab' },
    ],
    NOW,
  );
  expect(after.peers.get('web')).toMatchObject({
    labels: { role: 'proxy' },
    status: { address: '10.97.8.5' },
    generation: 2,
  });
  expect(addresses(after)).toMatchObject({ db: ['10.98.0.1'] });
  expect(ops.filter((op) => op.op === 'update' && op.record.name === 'web')).toHaveLength(1);
});

test('a peer that comes into the network by the same batch gets an address that no renumbered peer has', () => {
  const state = stateWith(
    network('default'),
    network('lab', { cidr: '10.98.0.0/24' }),
    peer('web', { address: '10.96.0.1' }),
    peer('db', { address: '10.98.0.1', network: 'lab' }),
  );
  const change = { action: 'update', resource: 'MeshPeer', name: 'db', network: 'default' } as const;
  const { after } = planChanges(state, [renumber(NEW), change], NOW);
  expect([...after.peers.values()].map(({ status }) => status.address).sort()).toEqual(['10.97.8.1', '10.97.8.2']);
});

test('a network without peers changes its block, and carries none', () => {
  const { after } = planChanges(stateWith(), [renumber(NEW)], NOW);
  expect(after.networks.get('default')).toMatchObject({ spec: { cidr: NEW }, status: {} });
});

describe('refused are', () => {
  const carried = planChanges(two, [renumber(NEW)], NOW).after;
  test.each<[string, NetworkState, NetworkChange, RegExp]>([
    [
      'a block without the places of all peers',
      two,
      renumber('10.97.8.0/25'),
      /too small.*db has 10\.96\.0\.254.*prefix \/24/,
    ],
    [
      'a block of another network',
      stateWith(network('default'), network('lab', { cidr: NEW }), web),
      renumber(NEW),
      /overlaps/,
    ],
    [
      'a third block meanwhile',
      carried,
      renumber('10.99.0.0/24'),
      /Renumber it again in 10 min, or back to 10\.96\.0\.0\/24 now/,
    ],
    [
      'the carried block for another network',
      carried,
      { ...renumber(OLD, 'lab'), action: 'create' } as NetworkChange,
      /overlaps/,
    ],
    [
      'a wider block over the carried one',
      carried,
      renumber('10.96.0.0/12'),
      /overlaps 10\.96\.0\.0\/24, which nodes may still use/,
    ],
    [
      'an address that was freed a moment ago',
      stateWith(network('default'), web, quarantine('10.97.8.5', NOW + 30_000)),
      renumber(NEW),
      /freed a moment ago.*in 30 s/,
    ],
  ])('%s', (_what, state, change, text) => {
    expect(refusal(state, change)).toMatch(text);
  });
});

interface Block {
  readonly prefix: number;
  readonly base: number;
}

const block: fc.Arbitrary<Block> = fc
  .tuple(fc.integer({ min: 16, max: 30 }), fc.nat(255))
  .map(([prefix, n]) => ({ prefix, base: n * 2 ** 16 }));

test('whatever the blocks, all peers move to their places or none does, and the way back gives each its own address', () => {
  const check = (one: Block, other: Block, places: readonly number[]) => {
    const from = `${formatAddress((addressNumber('10.0.0.0') ?? 0) + one.base)}/${one.prefix}`;
    const to = `${formatAddress((addressNumber('172.16.0.0') ?? 0) + (other.base % 2 ** 20))}/${other.prefix}`;
    const first = hostRange(from)?.first ?? 0;
    const hosts = [...new Set(places.map((place) => place % hostCount(from)))];
    const peers = hosts.map((host) => peer(`p${host}`, { address: formatAddress(first + host) }));
    const state = stateWith(network('default', { cidr: from }), ...peers);
    const fits = hosts.every((host) => host < hostCount(to));
    if (!fits) {
      expect(refusal(state, renumber(to))).toMatch(/too small/);
      return;
    }
    const { after } = planChanges(state, [renumber(to)], NOW);
    const moved = [...after.peers.values()];
    expect(new Set(moved.map(({ status }) => status.address)).size).toBe(hosts.length);
    for (const one of moved) {
      const before = state.peers.get(one.name)?.status.address;
      expect(formerAddressOf(one, after)).toEqual({ address: before, cidr: from });
      expect(one.unique).toEqual([`ip:${one.status.address}`]);
    }
    const back = planChanges(after, [renumber(from)], NOW).after;
    expect([...back.peers.values()].map(({ status }) => status.address)).toEqual(
      peers.map(({ status }) => status.address),
    );
  };
  fc.assert(fc.property(block, block, fc.uniqueArray(fc.nat(2 ** 16), { maxLength: 20 }), check));
});
