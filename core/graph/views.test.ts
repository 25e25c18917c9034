import { expect, test, vi } from 'vitest';
import { agent, network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import type { StoredRecord } from '../base/record.ts';
import { Reachability } from '../reachability/reachability.ts';
import { buildCompiler } from '../state/compiled.ts';
import { nextState, trackedState } from '../state/state.ts';
import { deltaFor, type GraphSettings, graphFor } from './graph-for.ts';
import { plainSurroundings } from './plain-graph.testkit.ts';
import { ViewDeltas } from './view-delta.ts';
import { viewsOf } from './views.ts';

const NOW = 1_800_000_000_000;
const SETTINGS: GraphSettings = { epoch: 'e', reason: 'test', relay: null, stun: [], checkpoint: null };
const role = (name: string) => ({ matchLabels: { role: name } });
const device = (nth: number) => peer(`n${nth}`, { uid: `u${nth}`, address: `10.96.${nth >> 8}.${nth & 255}` });

function networkOf(...records: readonly StoredRecord[]) {
  const state = trackedState(stateWith(...records));
  const reachability = buildCompiler()(state, NOW);
  return { state, reachability, views: viewsOf(state, reachability, []) };
}

test('a peer that bounds another one is told what its twins are not', () => {
  const { state, reachability, views } = networkOf(
    network('default'),
    agent('root'),
    agent('child', { parentRef: { name: 'root', namespace: 'prod' } }, { depth: 1 }),
    peer('boss', { uid: 'u_boss', labels: { role: 'web' }, address: '10.96.0.1', agentRef: 'root' }),
    peer('twin', { uid: 'u_twin', labels: { role: 'web' }, address: '10.96.0.2' }),
    peer('bot', { uid: 'u_bot', labels: { role: 'db' }, address: '10.96.0.3', agentRef: 'child' }),
    policy('no-web', {
      action: 'DENY',
      peerSelector: role('web'),
      ingress: [{ from: [{ peerSelector: role('web') }] }],
    }),
  );
  const openTo = (name: string) => {
    const record = state.peers.get(name) ?? peer(name);
    const graph = graphFor(state, views, record, SETTINGS);
    expect(graph).toMatchObject(plainSurroundings(state, reachability, [], record));
    return graph.firewall.full.in.map(({ cidr }) => cidr);
  };
  expect([openTo('boss'), openTo('twin'), openTo('bot')]).toEqual([
    ['10.96.0.3/32'],
    [],
    ['10.96.0.1/32', '10.96.0.2/32'],
  ]);
});

test('the graphs of a hundred nodes that policies cannot tell apart look at the network once, and their deltas once more', () => {
  const compile = buildCompiler();
  const before = trackedState(stateWith(network('default'), ...Array.from({ length: 100 }, (_, nth) => device(nth))));
  const views = viewsOf(before, compile(before, NOW), []);
  const looks = vi.spyOn(Reachability.prototype, 'neighbours');
  try {
    for (const record of before.peers.values()) graphFor(before, views, record, SETTINGS);
    expect(looks).toHaveBeenCalledTimes(1);
    const joined = { type: 'created' as const, record: device(100) };
    const after = nextState(before, { revision: before.revision + 1, changes: [joined] });
    const deltas = new ViewDeltas(views, viewsOf(after, compile(after, NOW), []));
    const peers = [...before.peers.values()].map((was) => {
      const told = { state: before, peer: was, version: before.revision };
      return deltaFor(told, after, deltas, after.peers.get(was.name) ?? was, SETTINGS)?.peers;
    });
    expect(looks).toHaveBeenCalledTimes(2);
    expect(peers.map((one) => one?.added.map(({ id }) => id))).toEqual(Array.from({ length: 100 }, () => ['u100']));
    expect(new Set(peers).size).toBe(1);
  } finally {
    looks.mockRestore();
  }
});

test('the views of a network are the same for as long as nothing in them differs', () => {
  const { state, reachability, views } = networkOf(network('default'), device(1), device(2));
  expect(viewsOf({ ...state, revision: 99 }, reachability, [])).toBe(views);
  expect(viewsOf(state, reachability, [{ at: NOW + 1, reachability }])).not.toBe(views);
});
