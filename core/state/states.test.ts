import { expect, test } from 'vitest';
import { openStore } from '../../storage/open.ts';
import { network, peer, policy } from '../../test/kits/records/records.ts';
import { stillHeld } from '../../test/kits/records/still-held.ts';
import type { CommitContext, Op, Store } from '../base/ports.ts';
import { draftOf, type StoredRecord } from '../base/record.ts';
import { silentLog } from '../base/silent-log.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { buildNetworkStates } from './states.ts';

const WORKSPACE = 'w_states';
const CONTEXT: CommitContext = { actor: 'user:ada', reason: 'test', requestId: 'r1' };

async function openWorld() {
  let now = 1_000;
  const store = await openStore(':memory:', { clock: { now: () => now }, log: silentLog });
  const commit = (...ops: Op[]) => store.commit(WORKSPACE, ops, CONTEXT);
  return {
    store,
    commit,
    setTime: (at: number) => {
      now = at;
    },
    [Symbol.asyncDispose]: () => store.close(),
  };
}

const create = (record: StoredRecord): Op => ({ op: 'create', record: draftOf(record) });
const names = (records: ReadonlyMap<string, StoredRecord>) => [...records.keys()];

/** A store that counts its list calls. */
function counted(store: Store): { store: Store; lists: () => number } {
  let count = 0;
  const list: Store['list'] = (...query) => {
    count += 1;
    return store.list(...query);
  };
  return { store: { ...store, list }, lists: () => count };
}

test('the current state is read once and then moved on by commits', async () => {
  await using world = await openWorld();
  await world.commit(create(network('default')));
  const { store, lists } = counted(world.store);
  const states = buildNetworkStates({ store });
  const first = await states.current(WORKSPACE);
  const reads = lists();
  await world.commit(create(peer('web')), create(policy('base', { action: 'DENY' })));
  const second = await states.current(WORKSPACE);
  expect([first.revision, names(first.peers)]).toEqual([1, []]);
  expect([second.revision, names(second.peers), names(second.policies)]).toEqual([2, ['web'], ['base']]);
  expect(lists()).toBe(reads);
});

test('maps that a commit does not touch are the same objects as before', async () => {
  await using world = await openWorld();
  const states = buildNetworkStates({ store: world.store });
  await world.commit(create(network('default')), create(peer('web')));
  const before = await states.current(WORKSPACE);
  await world.commit(create(policy('base', { action: 'DENY' })));
  const after = await states.current(WORKSPACE);
  expect([after.peers === before.peers, after.networks === before.networks]).toEqual([true, true]);
});

test('commits that arrive while the state is first read are in it', async () => {
  await using world = await openWorld();
  await world.commit(create(network('default')));
  const states = buildNetworkStates({ store: world.store });
  const pending = states.current(WORKSPACE);
  await Promise.all(Array.from({ length: 20 }, (_, i) => world.commit(create(peer(`web-${i}`)))));
  await pending;
  expect((await states.current(WORKSPACE)).peers.size).toBe(20);
});

test('a state whose commit was not heard of catches up from the log', async () => {
  await using world = await openWorld();
  let hear: Parameters<Store['onCommit']>[0] = () => {};
  const onCommit: Store['onCommit'] = (listener) => {
    hear = listener;
    return () => {};
  };
  const states = buildNetworkStates({ store: { ...world.store, onCommit } });
  await world.commit(create(network('default')));
  expect((await states.current(WORKSPACE)).revision).toBe(1);
  await world.commit(create(peer('a')));
  hear(await world.commit(create(peer('b'))));
  expect(names((await states.current(WORKSPACE)).peers)).toEqual(['a', 'b']);
});

test('a past state shows what was in force at a revision and at an instant', async () => {
  await using world = await openWorld();
  const states = buildNetworkStates({ store: world.store });
  await world.commit(create(network('default')), create(peer('a')));
  world.setTime(2_000);
  await world.commit(create(peer('b')));
  world.setTime(3_000);
  await world.commit({ op: 'delete', key: { kind: 'MeshPeer', name: 'a' } });
  const seen = await Promise.all(
    [{ revision: 0 }, { revision: 1 }, { at: 1_999 }, { at: 2_000 }, { at: 9_000 }].map((point) =>
      states.asOf(WORKSPACE, point),
    ),
  );
  expect(seen.map(({ peers }) => names(peers))).toEqual([[], ['a'], ['a'], ['a', 'b'], ['b']]);
});

test('a past state is read once, and what has not changed since is shared with the current one', async () => {
  await using world = await openWorld();
  const { store, lists } = counted(world.store);
  const states = buildNetworkStates({ store });
  await world.commit(create(network('default')), create(peer('a')));
  await world.commit(create(peer('b')));
  const [now, past] = [await states.current(WORKSPACE), await states.asOf(WORKSPACE, { revision: 1 })];
  const reads = lists();
  expect(await states.asOf(WORKSPACE, { revision: 1 })).toBe(past);
  expect(past.peers.get('a')).toBe(now.peers.get('a'));
  expect(lists()).toBe(reads);
});

test.each([{ at: 1 }, { revision: 99 }, { revision: -1 }, { revision: 1.5 }])(
  'a point outside history, %j, is not found',
  async (point) => {
    await using world = await openWorld();
    const states = buildNetworkStates({ store: world.store });
    await world.commit(create(network('default')));
    await expect(states.asOf(WORKSPACE, point)).rejects.toMatchObject({ code: 'not_found' });
  },
);

test('past states are counted with the places of all their records, and those used last stay', async () => {
  await using world = await openWorld();
  const crowd = Array.from({ length: 50 }, (_, nth) => peer(`web-${nth}`));
  await world.commit(create(network('default')), ...crowd.map(create));
  for (let nth = 0; nth < 8; nth += 1) await world.commit(create(policy(`p${nth}`, { action: 'DENY' })));
  const { store, lists } = counted(world.store);
  // Each of them has 51 to 58 records, nearly all of the present, some 19 KB: three find room, eight do not.
  const states = buildNetworkStates({ store }, { current: 1_000_000, past: 65_000 });
  for (let revision = 1; revision < 9; revision += 1) await states.asOf(WORKSPACE, { revision });
  const read = async (revision: number) => {
    const before = lists();
    await states.asOf(WORKSPACE, { revision });
    return lists() - before;
  };
  expect([await read(8), await read(7), await read(6)]).toEqual([0, 0, 0]);
  expect(await read(1)).toBeGreaterThan(0);
});

test('a record of a past state that is long counts as what it holds', async () => {
  await using world = await openWorld();
  const long = { ...policy('long', { action: 'DENY' }), annotations: { why: 'x'.repeat(60_000) } };
  await world.commit(create(network('default')), create(long));
  await world.commit({ op: 'delete', key: { kind: 'MeshPolicy', name: 'long' }, revision: 1 });
  await world.commit(create(peer('a')));
  const { store, lists } = counted(world.store);
  const states = buildNetworkStates({ store }, { current: 1_000_000, past: 65_000 });
  for (const revision of [2, 1]) await states.asOf(WORKSPACE, { revision });
  const before = lists();
  await states.asOf(WORKSPACE, { revision: 2 });
  expect(lists()).toBeGreaterThan(before);
});

test('a past state that nobody asks for any more is let go', async () => {
  await using world = await openWorld();
  await world.commit(create(network('default')), create(peer('a')));
  await world.commit(create(peer('b')));
  const states = buildNetworkStates({ store: world.store });
  const past = new WeakRef(await states.asOf(WORKSPACE, { revision: 1 }));
  world.setTime(2_000);
  await world.commit(create(peer('c')));
  expect(await stillHeld([past])).toHaveLength(1);
  world.setTime(3_600_000);
  await world.commit(create(peer('d')));
  expect(await stillHeld([past])).toHaveLength(0);
});

test('states of the present are counted with what they hold, and those used last stay', async () => {
  await using world = await openWorld();
  const workspaces = ['w_1', 'w_2', 'w_3'];
  for (const workspace of workspaces) {
    await world.store.commit(workspace, [create({ ...network('default'), workspace })], CONTEXT);
  }
  const { store, lists } = counted(world.store);
  const states = buildNetworkStates({ store }, { current: 60_000, past: 1 });
  const read = async (workspace: string) => {
    const before = lists();
    await states.current(workspace);
    return lists() - before;
  };
  for (const workspace of workspaces) await read(workspace);
  expect([await read('w_1'), await read('w_2'), await read('w_3')]).toEqual([0, 0, 0]);
  const crowd = Array.from({ length: 60 }, (_, nth) => ({ ...peer(`web-${nth}`), workspace: 'w_3' }));
  await world.store.commit('w_3', crowd.map(create), CONTEXT);
  expect(await read('w_3')).toBe(0);
  expect(await read('w_1')).toBeGreaterThan(0);
});

test('a past state is what it was, whenever the present is let go and read again meanwhile', async () => {
  await using world = await openWorld();
  const other = 'w_other';
  await world.commit(create(policy('base', { action: 'DENY' })));
  world.setTime(2_000);
  await world.commit(create(policy('later', { action: 'DENY' })));
  await world.commit({ op: 'delete', key: { kind: 'MeshPolicy', name: 'base' }, revision: 1 });
  await world.store.commit(other, [create(policy('base', { action: 'DENY' }))], CONTEXT);
  // There is room for the present of one workspace.
  const states = buildNetworkStates({ store: world.store }, { current: 1, past: 40_000_000 });
  await states.current(WORKSPACE);
  for (let turns = 0; turns < 24; turns += 1) {
    const past = states.asOf(WORKSPACE, { at: 1_500 });
    for (let turn = 0; turn < turns; turn += 1) await undefined;
    const beside = [states.current(other), states.current(WORKSPACE)];
    const [{ policies, revision }] = await Promise.all([past, ...beside]);
    expect([revision, names(policies)]).toEqual([1, ['base']]);
  }
});

test('after joins, leaves and checks there are as many engines as states that are held, with places for who is there', async () => {
  await using world = await openWorld();
  await world.commit(create(network('default')));
  const states = buildNetworkStates({ store: world.store });
  const first = await states.current(WORKSPACE);
  const engines: WeakRef<Reachability>[] = [];
  for (let nth = 0; nth < 300; nth += 1) {
    const { peers } = await states.current(WORKSPACE);
    const gone = peers.size < 10 ? undefined : [...peers.values()][0];
    const leave: Op[] = gone
      ? [{ op: 'delete', key: { kind: 'MeshPeer', name: gone.name }, revision: gone.revision }]
      : [];
    await world.commit(create(peer(`web-${nth}`)), ...leave);
    engines.push(new WeakRef(states.reachability(await states.current(WORKSPACE), 1_000)));
  }
  const [last, ...others] = (await stillHeld(engines)).reverse();
  expect(others.length).toBeLessThanOrEqual(1);
  expect(last?.parts.places.size).toBeLessThan(100);
  expect([first.peers.size, (await states.current(WORKSPACE)).peers.size]).toEqual([0, 10]);
});
