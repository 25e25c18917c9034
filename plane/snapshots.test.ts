import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { draftOf } from '../core/base/record.ts';
import { latestSnapshot, listSnapshots } from '../core/history/snapshots.ts';
import { buildKit } from '../test/kits/plane/kit.ts';
import { switchedLeadership } from '../test/kits/plane/switched-leadership.ts';
import { freshDirectory } from '../test/kits/process/meshd.ts';
import { policy } from '../test/kits/records/records.ts';
import { startSnapshots } from './snapshots.ts';

const byHand = { actor: 'user:ada', reason: 'test', requestId: 'r_test' };
const BIG_LABELS = 40;

/** A policy of some 3 KB. */
const policyNamed = (name: string) =>
  draftOf(
    policy(name, {
      action: 'DENY',
      peerSelector: {},
      ingress: Array.from({ length: BIG_LABELS }, (_, nth) => ({
        from: [{ peerSelector: { matchLabels: { role: `${name}-${nth}` } } }],
      })),
    }),
  );

type Kit = Awaited<ReturnType<typeof buildKit>>;

/** A control plane whose snapshots are never taken, as one that ends by kill -9 right after a change. */
async function writeAndCrash(kit: Kit, workspace: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await kit.services.store.commit(workspace, [{ op: 'create', record: policyNamed(name) }], byHand);
  }
}

test('the snapshot of the last change before a crash is taken at the start, of that change and its instant', async () => {
  const directory = freshDirectory();
  const file = path.join(directory, 'mesh.db');
  let workspace = '';
  {
    await using kit = await buildKit({ path: file });
    workspace = await kit.workspace();
    await writeAndCrash(kit, workspace, ['a']);
  }
  await using kit = await buildKit({ path: file, now: Date.UTC(2026, 1, 1) });
  const { store } = kit.services;
  const revision = await store.revision(workspace);
  const [commit] = await store.commits(workspace, revision - 1, 1);
  const snapshots = startSnapshots(kit.services);
  await snapshots.settle();
  expect((await latestSnapshot(kit.services, workspace))?.spec).toMatchObject({
    revision,
    capturedAt: commit?.at,
    trigger: 'policy_change',
    triggeredBy: 'user:ada',
  });
  const taken = await store.revision(workspace);
  await snapshots.stop();
  const again = startSnapshots(kit.services);
  await again.settle();
  await again.stop();
  expect(await store.revision(workspace)).toBe(taken);
  rmSync(directory, { recursive: true });
});

test('several crashes make snapshots of at most 10 KB each, and a change heard of meanwhile is in the last one', async () => {
  await using kit = await buildKit();
  const { store } = kit.services;
  const workspace = await kit.workspace();
  for (const crash of ['a', 'b', 'c', 'd']) await writeAndCrash(kit, workspace, [`${crash}1`, `${crash}2`]);
  const snapshots = startSnapshots(kit.services);
  await writeAndCrash(kit, workspace, ['meanwhile']);
  const last = await store.get(workspace, { kind: 'MeshPolicy', name: 'meanwhile' });
  await snapshots.settle();
  await snapshots.stop();
  const { items } = await listSnapshots(kit.services, workspace, { limit: 50 });
  expect(items.length).toBeGreaterThan(1);
  expect(Math.max(...items.map(({ spec }) => spec.historyBytes ?? Number.POSITIVE_INFINITY))).toBeLessThan(10_000);
  expect(Math.max(...items.map(({ spec }) => spec.revision))).toBe(last?.revision);
});

test('who takes a workspace over takes the snapshots of what its former leader left, and each once', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const leaders = [switchedLeadership(true), switchedLeadership(false)] as const;
  const [first, second] = leaders.map((leadership) => startSnapshots(kit.services, leadership));
  const commit = (name: string) =>
    kit.services.store.commit(workspace, [{ op: 'create', record: policyNamed(name) }], byHand);
  const revisions = async () =>
    (await listSnapshots(kit.services, workspace, { limit: 50 })).items.map(({ spec }) => spec.revision).toSorted();
  try {
    await first?.settle();
    await commit('by-first');
    kit.clock.time += 10_000;
    await first?.settle();
    const before = await revisions();
    const { revision } = await commit('left-behind');
    await leaders[0].set(false);
    await leaders[1].set(true);
    kit.clock.time += 10_000;
    await Promise.all([first?.settle(), second?.settle()]);
    expect(await revisions()).toEqual([...before, revision].toSorted());
    await leaders[1].set(false);
    await leaders[0].set(true);
    kit.clock.time += 10_000;
    await Promise.all([first?.settle(), second?.settle()]);
    expect(await revisions()).toEqual([...before, revision].toSorted());
  } finally {
    await Promise.all([first?.stop(), second?.stop()]);
  }
});

describe('where the disk has no room for snapshots', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** A workspace in which one change after the other has no snapshot, since only changes are still written. */
  async function buildFullKit() {
    const disk = { left: 1 };
    const kit = await buildKit({ left: () => disk.left });
    const { store } = kit.services;
    const workspace = await kit.workspace();
    const errors: object[] = [];
    const log = { ...kit.services.log, error: (fields: object) => void errors.push(fields) };
    const snapshots = startSnapshots({ ...kit.services, log });
    await store.commit(workspace, [{ op: 'create', record: policyNamed('a') }], byHand);
    kit.clock.time += 10_000;
    await snapshots.settle();
    const change = async () => {
      const record = await store.get(workspace, { kind: 'MeshPolicy', name: 'a' });
      if (record === undefined) throw new Error('There is no policy a.');
      const draft = { ...draftOf(record), labels: { change: `r${record.revision}` } };
      const { revision, at } = await store.commit(
        workspace,
        [{ op: 'update', record: draft, revision: record.revision }],
        byHand,
      );
      kit.clock.time += 10_000;
      await snapshots.settle();
      return { revision, capturedAt: at };
    };
    const taken = async () =>
      (await listSnapshots(kit.services, workspace, { limit: 50 })).items
        .map(({ spec: { revision, capturedAt } }) => ({ revision, capturedAt }))
        .toSorted((a, b) => a.revision - b.revision);
    return { kit, disk, snapshots, errors, change, taken };
  }

  test('each change has its own once there is room, by itself, and it is told once that they are missing', async () => {
    const { kit, disk, snapshots, errors, change, taken } = await buildFullKit();
    await using _ = kit;
    const before = await taken();
    disk.left = 0.2;
    const missed = [await change(), await change(), await change()];
    expect([await taken(), errors.length]).toEqual([before, 1]);
    disk.left = 1;
    await vi.waitFor(async () => {
      vi.advanceTimersByTime(60_000);
      await snapshots.settle();
      expect(await taken()).toEqual([...before, ...missed]);
    }, 30_000);
    await snapshots.stop();
    expect([errors.length, vi.getTimerCount()]).toEqual([1, 0]);
  });

  test('the next change after there is room brings those before it too', async () => {
    const { kit, disk, snapshots, change, taken } = await buildFullKit();
    await using _ = kit;
    const before = await taken();
    disk.left = 0.2;
    const missed = await change();
    disk.left = 1;
    const next = await change();
    expect(await taken()).toEqual([...before, missed, next]);
    await snapshots.stop();
  });
});
