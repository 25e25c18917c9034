import { expect, test } from 'vitest';
import type { StoredRecord } from '../core/base/record.ts';
import type { PolicySpec } from '../core/model/policy.ts';
import { buildCompiler } from '../core/state/compiled.ts';
import { stateOf } from '../core/state/state.ts';
import { network as networkRecord, peer as peerRecord, policy } from '../test/kits/records/records.ts';
import { affectedBy } from './affected-peers.ts';

const NOW = 1_000_000;
const states = { reachability: buildCompiler() };

function peer(name: string, last: number, publicKey = name): StoredRecord {
  return peerRecord(name, { uid: `MeshPeer-${name}`, labels: { name }, publicKey, address: `10.96.0.${last}` });
}

function shut(name: string, from: string, more: Partial<PolicySpec> = {}): StoredRecord {
  const select = (label: string) => ({ peerSelector: { matchLabels: { name: label } } });
  return policy(`${name}-${from}`, { action: 'DENY', ...select(name), ingress: [{ from: [select(from)] }], ...more });
}

const network = networkRecord('default');
const PEERS = [peer('a', 1), peer('b', 2), peer('c', 3)];

function affected(before: readonly StoredRecord[], after: readonly StoredRecord[]): string[] {
  const sight = (records: readonly StoredRecord[]) => ({ state: stateOf('w', 1, [network, ...records]), at: NOW });
  const everyone = new Set(after.flatMap(({ kind, name }) => (kind === 'MeshPeer' ? [name] : [])));
  return [...affectedBy(states, sight(before), sight(after), everyone)].sort();
}

test('a policy affects the peers whose traffic it changes, and no others', () => {
  expect(affected(PEERS, [...PEERS, shut('a', 'b')])).toEqual(['a', 'b']);
});

test('nothing is affected when nothing that graphs tell has changed', () => {
  expect(affected(PEERS, PEERS)).toEqual([]);
});

test('another end of a policy affects the peers whose rules carry it', () => {
  const ending = (expiresAt: string) => [...PEERS, shut('a', 'b', { expiresAt })];
  expect(affected(ending('2030-01-01T00:00:00Z'), ending('2031-01-01T00:00:00Z'))).toEqual(['a', 'b']);
});

test('another key of a peer affects it and its neighbours', () => {
  const walled = [...PEERS, shut('a', 'c'), shut('c', 'a')];
  const rotated = walled.map((one) => (one.name === 'a' ? peer('a', 1, 'other') : one));
  expect(affected(walled, rotated)).toEqual(['a', 'b']);
});

test('a peer that left affects those who had to do with it', () => {
  expect(affected(PEERS, PEERS.slice(0, 2))).toEqual(['a', 'b']);
});

test('where nobody is told, nothing is compiled', () => {
  const compiled: unknown[] = [];
  const watched = {
    reachability(...asked: Parameters<typeof states.reachability>) {
      compiled.push(asked);
      return states.reachability(...asked);
    },
  };
  const sight = (records: readonly StoredRecord[]) => ({ state: stateOf('w', 1, [network, ...records]), at: NOW });
  expect(affectedBy(watched, sight(PEERS), sight([...PEERS, shut('a', 'b')]), new Set())).toEqual(new Set());
  expect(compiled).toEqual([]);
});

test('where comparing takes long, everyone who is told is affected, and no row is computed', () => {
  const names = Array.from({ length: 80 }, (_, nth) => `n${nth}`);
  const crowd = names.map((name, nth) => peer(name, nth + 1));
  const port = (nth: number) => [{ protocol: 'TCP' as const, port: 2 * nth + 1 }];
  const some = (nth: number) => names.filter((_, at) => (at * 31 + nth * 17) % 7 < 4);
  const rule = (nth: number) => ({
    from: [{ peerSelector: { peers: some(nth).map((name) => `MeshPeer-${name}`) } }],
    ports: port(nth),
  });
  const rules = Array.from({ length: 300 }, (_, nth) => rule(nth));
  const subjects = names.map((name, nth) =>
    policy(`of-${name}`, { action: 'ALLOW', peerSelector: { matchLabels: { name } }, ingress: rules.slice(nth) }),
  );
  const sight = (records: readonly StoredRecord[]) => ({
    state: stateOf('w', 1, [network, ...crowd, ...records]),
    at: NOW,
  });
  const [before, after] = [sight(subjects.slice(1)), sight(subjects)];
  const told = new Set(['n1', 'n70']);
  expect(affectedBy(states, before, after, told)).toEqual(told);
  for (const { state, at } of [before, after]) {
    const { table, space } = states.reachability(state, at).parts;
    expect([...space.classes.keys()].filter((index) => table.has('ingress', index))).toEqual([]);
  }
});
