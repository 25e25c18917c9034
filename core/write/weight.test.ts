import { expect, test } from 'vitest';
import { network, peer, policy } from '../../test/kits/records/records.ts';
import type { Op } from '../base/ports.ts';
import { draftOf, type StoredRecord } from '../base/record.ts';
import type { PeerEntry } from '../model/policy.ts';
import { MAX_WEIGHT, MAX_WEIGHT_BY_AGENTS, weightOf } from '../reachability/weight.ts';
import { buildCompiler } from '../state/compiled.ts';
import { stateOf } from '../state/state.ts';
import type { Draft } from './draft.ts';
import { limitWeight } from './weight.ts';

const NOW = 1_000_000;
const names = Array.from({ length: 40 }, (_, nth) => `n${nth}`);
const crowd = names.map((name, nth) => peer(name, { labels: { name }, address: `10.96.0.${nth + 1}` }));

function heavy(name: string, rules: number, first = 0): StoredRecord {
  const some = (nth: number) => names.filter((_name, at) => (at * 31 + nth * 17) % 7 < 4);
  const select = (nth: number) => ({ matchExpressions: [{ key: 'name', operator: 'In' as const, values: some(nth) }] });
  const ingress = Array.from({ length: rules }, (_, rule) => ({
    from: [{ peerSelector: select(first + rule) }],
    ports: [{ protocol: 'TCP' as const, port: 1 + 2 * (first + rule) }],
  }));
  return policy(name, { action: 'ALLOW', peerSelector: select(first), ingress });
}

/** For all peers, rules of one port each about the same others. */
function alike(name: string, from: PeerEntry, first: number, rules: number): StoredRecord {
  const ingress = Array.from({ length: rules }, (_, nth) => ({
    from: [from],
    ports: [{ protocol: 'TCP' as const, port: 1 + 2 * (first + nth) }],
  }));
  return policy(name, { action: 'ALLOW', peerSelector: {}, ingress });
}

/** A network that was written when there was no limit. */
function scene(policies: readonly StoredRecord[], peers: readonly StoredRecord[] = crowd) {
  const state = stateOf('w', 1, [network('default'), ...peers, ...policies]);
  const states = { current: async () => state, reachability: buildCompiler() } as never;
  const written: (readonly Op[])[] = [];
  const bases: (readonly string[] | undefined)[] = [];
  const commit = async (op: Op, actor = 'user:ada', weighedAt?: number) => {
    const weighed = weighedAt === undefined ? {} : { weighedAt };
    const draft = { workspace: 'w', ops: [op], context: { actor, reason: 'because', requestId: 'r', ...weighed } };
    const { ops, context }: Draft = await limitWeight(draft, { states, clock: { now: () => NOW } });
    expect(context).not.toHaveProperty('weighedAt');
    written.push(ops);
    bases.push(context.readSet?.groups);
  };
  return { state, written, bases, commit };
}

test('a network that is too heavy already can be made lighter, by less of a policy or without it, and not heavier', async () => {
  const whole = heavy('whole', 1_000);
  const { state, written, commit } = scene([whole, heavy('other', 1_000, 1)]);
  expect(weightOf(buildCompiler()(state, NOW))).toBeGreaterThan(MAX_WEIGHT);
  await expect(commit({ op: 'create', record: draftOf(heavy('more', 10, 7)) })).rejects.toMatchObject({
    code: 'payload_too_large',
  });
  expect(written).toEqual([]);
  await commit({ op: 'delete', key: { kind: 'MeshPolicy', name: 'other' }, revision: 1 });
  await commit({ op: 'update', record: draftOf(heavy('whole', 900)), revision: 1 });
  expect(written).toHaveLength(2);
});

test('a batch is weighed again only where the network has changed since its author weighed it', async () => {
  const { state, written, commit } = scene([heavy('whole', 1_000), heavy('other', 1_000, 1)]);
  const more: Op = { op: 'create', record: draftOf(heavy('more', 10, 7)) };
  await commit(more, 'user:ada', state.revision);
  expect(written).toEqual([[more]]);
  await expect(commit(more, 'user:ada', state.revision - 1)).rejects.toMatchObject({ code: 'payload_too_large' });
});

test('agents leave people the rest of what can be computed', async () => {
  const half = [0, 1].map((nth) =>
    alike(`half-${nth}`, { peerSelector: { matchLabels: { name: 'n1' } } }, nth * 950, 950),
  );
  const { state, written, commit } = scene(half);
  const weight = weightOf(buildCompiler()(state, NOW));
  expect([weight > MAX_WEIGHT_BY_AGENTS, weight < MAX_WEIGHT]).toEqual([true, true]);
  const more: Op = {
    op: 'create',
    record: draftOf(alike('more', { peerSelector: { matchLabels: { name: 'n1' } } }, 5_000, 1)),
  };
  await expect(commit(more, 'agent:bot')).rejects.toMatchObject({ code: 'payload_too_large' });
  await commit(more);
  expect(written).toEqual([[more]]);
});

test('a device that is let in counts with the address that it gets', async () => {
  const pending = names.map((name) => peer(name, { labels: {}, phase: 'pending', address: null }));
  const all = [0, 1, 2].map((nth) => alike(`all-${nth}`, { ipBlock: { cidr: '10.96.0.0/26' } }, nth * 800, 800));
  const { written, commit } = scene(all, pending);
  const record = draftOf(peer('n0', { labels: {}, address: '10.96.0.1' }));
  await expect(commit({ op: 'update', record, revision: 1 })).rejects.toMatchObject({ code: 'payload_too_large' });
  expect(written).toEqual([]);
});

test('policies written at the same moment at several control planes meet each other where they could be too heavy together, and devices do not', async () => {
  const together = Array.from({ length: 4 }, (_, nth) => heavy(`p${nth}`, 250, 300 * nth));
  const [first, ...others] = together;
  if (!first) throw new Error('no policy');
  const { bases, commit } = scene([]);
  const weigh = (policies: readonly StoredRecord[]) => weightOf(buildCompiler()(scene(policies).state, NOW));
  expect(weigh([first])).toBeLessThan(MAX_WEIGHT_BY_AGENTS / 4);
  expect(weigh(together) / weigh([first])).toBeGreaterThan(20);
  await commit({ op: 'create', record: draftOf(first) });
  await commit({ op: 'create', record: draftOf(alike('light', { peerSelector: {} }, 0, 3)) });
  expect(bases).toEqual([['MeshPolicy'], undefined]);
  const full = scene([first, ...others.slice(0, 1)]);
  await full.commit({ op: 'create', record: draftOf(peer('late', { labels: { name: 'n1' }, address: '10.96.1.1' })) });
  expect(full.bases).toEqual([undefined]);
});
