import { setImmediate as nextTurn } from 'node:timers/promises';
import { draftOf } from '../../core/base/record.ts';
import { GraphPush } from '../../plane/graph-push.ts';
import { startSnapshots } from '../../plane/snapshots.ts';
import { buildKit } from '../../test/kits/plane/kit.ts';
import type { ChangeKind, Cost } from './changes.ts';
import { GROUP, groupPolicy, seedNetwork } from './network.ts';

/**
 * A control plane without faces and bus that counts what it would publish: `node bench/graph/cost.ts <file> <peers>`,
 * told by messages to make changes.
 */
const LIVE = 1_000;
/** As plane/coalescer.ts: quiet time before changes go out. */
const GATHER_MS = 50;
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'bench' } as const;

const [path = '', size = '1000'] = process.argv.slice(2);
const kit = await buildKit({ path });
const { store, liveness, clock } = kit.services;
const workspace = await kit.workspace('bench', 1_000_000);
const lives = await seedNetwork(store, workspace, Number(size), LIVE);
let published = 0;
let lastAt = 0;
const push = new GraphPush(kit.services, {
  publish() {
    published += 1;
    lastAt = performance.now();
  },
});
const snapshots = startSnapshots(kit.services);
for (const { id } of lives) {
  liveness.heard(workspace, id, clock.now());
  push.request(workspace, id);
}
await until(LIVE);
process.on('message', async (order: { readonly kind: ChangeKind; readonly count: number }) => {
  process.send?.(await measure(order.kind, order.count));
});
process.on('disconnect', async () => {
  await push.stop();
  await snapshots.stop();
  await kit[Symbol.asyncDispose]();
  process.exit(0);
});
process.send?.('ready');

async function measure(kind: ChangeKind, count: number): Promise<Cost> {
  const before = { cpu: process.cpuUsage(), published };
  let wallMs = 0;
  for (let n = 0; n < count; n++) wallMs += await change(kind, n);
  await snapshots.settle();
  const { user, system } = process.cpuUsage(before.cpu);
  return {
    wallMs: wallMs / count,
    cpuMs: (user + system) / 1_000 / count,
    messages: (published - before.published) / count,
  };
}

/** Moves a peer to the next group, lets it leave and join again, or edits the policy of a group. */
async function change(kind: ChangeKind, n: number): Promise<number> {
  const group = 1 + (n % (LIVE / GROUP - 2));
  const key = kind === 'policy' ? { kind: 'MeshPolicy' as const, name: `g${group}` } : peerKey(group);
  const record = await store.get(workspace, key);
  if (record === undefined) throw new Error(`There is no ${key.name}.`);
  const start = performance.now();
  const wanted = published + GROUP / 2;
  const { revision } = record;
  if (kind === 'label') {
    const now = record.labels['app'] === `g${group}` ? group + 1 : group;
    const next = { ...draftOf(record), labels: { ...record.labels, app: `g${now}` } };
    await store.commit(workspace, [{ op: 'update', record: next, revision }], WHY);
  } else if (record.kind === 'MeshPolicy') {
    const next = { ...draftOf(record), spec: groupPolicy(group, 1_024 + Math.floor(Math.random() * 60_000)) };
    await store.commit(workspace, [{ op: 'update', record: next, revision }], WHY);
  } else {
    await store.commit(workspace, [{ op: 'delete', key, revision }], WHY);
    await until(wanted);
    const gone = lastAt - start - GATHER_MS;
    const again = performance.now();
    await store.commit(workspace, [{ op: 'create', record: draftOf(record) }], WHY);
    await until(published + GROUP / 2);
    return (gone + lastAt - again - GATHER_MS) / 2;
  }
  await until(wanted);
  return lastAt - start - GATHER_MS;
}

function peerKey(group: number) {
  return { kind: 'MeshPeer' as const, name: `peer-${group * GROUP + 7}` };
}

/** Until so many messages went out and no more come. */
async function until(wanted: number): Promise<void> {
  while (published < wanted) await new Promise((resolve) => setTimeout(resolve, 1));
  for (let seen = -1; seen !== published; ) {
    seen = published;
    for (let turn = 0; turn < 8; turn++) await nextTurn();
  }
}
