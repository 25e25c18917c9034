import { describe, expect, test } from 'vitest';
import type { Op, Store } from '../../core/base/ports.ts';
import { draft, type OpenStore, opened, outcome, peer, START, stored, testClock, WHY, WS } from './kit.ts';

export function pastContract(open: OpenStore): void {
  describe('the past', () => {
    test('reads records and lists as of any revision and instant', async () => {
      const store = await withThreeRevisions(open);
      const at1 = stored(draft('a'), 1);
      const at2 = stored(draft('a', { spec: 2 }), 2, { generation: 2 });
      const reads = [{ revision: 0 }, { revision: 1 }, { revision: 2 }, { revision: 3 }, { revision: 99 }];
      expect(await Promise.all(reads.map((asOf) => store.get(WS, peer('A'), asOf)))).toEqual([
        undefined,
        at1,
        at2,
        undefined,
        undefined,
      ]);
      const instants = [START - 1, START, START + 99, START + 100, START + 200];
      const lists = await Promise.all(instants.map((at) => store.list(WS, 'MeshPeer', { asOf: { at } })));
      expect(lists).toEqual([
        { items: [], revision: 0 },
        { items: [at1], revision: 1 },
        { items: [at1], revision: 1 },
        { items: [at2], revision: 2 },
        { items: [], revision: 3 },
      ]);
    });

    test('names the revision in force at an instant and how long it was', async () => {
      const store = await withThreeRevisions(open);
      const instants = [START - 1, START, START + 150, START + 999];
      expect(await Promise.all(instants.map((at) => store.revisionAt(WS, at)))).toEqual([
        undefined,
        { revision: 1, from: START, to: START + 100 },
        { revision: 2, from: START + 100, to: START + 200 },
        { revision: 3, from: START + 200 },
      ]);
    });

    test('keeps since when a record is there, and its generation, where it takes another name', async () => {
      const clock = testClock();
      const store = await opened(open, clock);
      await store.commit(WS, [{ op: 'create', record: draft('a', { uid: 'p_a' }) }], WHY);
      clock.set(START + 100);
      const renamed = draft('b', { uid: 'p_a', labels: { role: 'db' } });
      const ops: Op[] = [
        { op: 'delete', key: peer('a'), revision: 1 },
        { op: 'create', record: renamed },
      ];
      await store.commit(WS, ops, WHY);
      const found = stored(renamed, 2, { createdAt: START, generation: 2 });
      expect(await store.getById(WS, 'MeshPeer', 'p_a')).toEqual(found);
    });

    test('tells the history of a record over deletion and re-creation', async () => {
      const store = await withThreeRevisions(open);
      const again = draft('a', { uid: 'p_again' });
      await store.commit(WS, [{ op: 'create', record: again }], WHY);
      expect(await store.history(WS, peer('a'))).toEqual([
        { revision: 1, at: START, record: stored(draft('a'), 1) },
        { revision: 2, at: START + 100, record: stored(draft('a', { spec: 2 }), 2, { generation: 2 }) },
        { revision: 3, at: START + 200 },
        { revision: 4, at: START + 200, record: stored(again, 4, { createdAt: START + 200 }) },
      ]);
      expect(await store.history(WS, peer('none'))).toEqual([]);
    });

    test('pages through a list in the order of names, in the past as now', async () => {
      const store = await opened(open);
      const names = Array.from({ length: 600 }, (_, n) => `n${String(n).padStart(4, '0')}`);
      await store.commit(
        WS,
        names.map((name) => ({ op: 'create', record: draft(name) }) as const),
        WHY,
      );
      await store.commit(WS, [{ op: 'delete', key: peer('n0001') }], WHY);
      const first = await store.list(WS, 'MeshPeer', { limit: 2, asOf: { revision: 1 } });
      expect([first.items.map(({ name }) => name), first.next]).toEqual([['n0000', 'n0001'], 'n0001']);
      const second = await store.list(WS, 'MeshPeer', { limit: 1, after: 'n0000' });
      expect([second.items.map(({ name }) => name), second.next]).toEqual([['n0002'], 'n0002']);
      const rest = await store.list(WS, 'MeshPeer', { after: 'N0001', limit: 598, asOf: { revision: 1 } });
      expect([rest.items.length, rest.next]).toEqual([598, undefined]);
      expect((await store.list(WS, 'MeshPeer')).items).toHaveLength(599);
    });

    test('shows one revision over a long list while others write', async () => {
      const store = await opened(open);
      const names = Array.from({ length: 1_000 }, (_, n) => `n${String(n).padStart(4, '0')}`);
      await store.commit(
        WS,
        names.map((name) => ({ op: 'create', record: draft(name) }) as const),
        WHY,
      );
      const listing = store.list(WS, 'MeshPeer');
      await store.commit(WS, [{ op: 'delete', key: peer('n0999') }], WHY);
      const { items, revision } = await listing;
      expect([items.length, revision]).toEqual([1_000, 1]);
    });

    test('keeps only the live version of kinds without history and refuses to read their past', async () => {
      const store = await opened(open);
      const token = draft('t', { kind: 'Token', uid: 'tok_1', spec: 1 });
      const next = draft('t', { ...token, spec: 2 });
      const key = { kind: 'Token', name: 't' } as const;
      await store.commit(WS, [{ op: 'create', record: token }], WHY);
      await store.commit(WS, [{ op: 'update', record: next, revision: 1 }], WHY);
      const live = stored(next, 2, { generation: 2 });
      expect(await store.get(WS, key)).toEqual(live);
      expect(await store.history(WS, key)).toEqual([{ revision: 2, at: START, record: live }]);
      expect(await outcome(store.get(WS, key, { revision: 1 }))).toMatchObject({ code: 'compacted' });
      expect(await outcome(store.list(WS, 'Token', { asOf: { at: START } }))).toMatchObject({ code: 'compacted' });
      await store.commit(WS, [{ op: 'delete', key }], WHY);
      expect(await store.list(WS, 'Token')).toEqual({ items: [], revision: 3 });
      await store.commit(WS, [{ op: 'create', record: token }], WHY);
      expect((await store.getById(WS, 'Token', 'tok_1'))?.revision).toBe(4);
    });

    test('drops superseded versions but none in force at a kept revision, and says what is gone', async () => {
      const store = await withThreeRevisions(open);
      await store.commit(WS, [{ op: 'create', record: draft('b') }], WHY);
      expect(await store.compact(WS, 3, [1])).toBe(1);
      expect(await store.get(WS, peer('a'), { revision: 1 })).toEqual(stored(draft('a'), 1));
      expect(await outcome(store.get(WS, peer('a'), { revision: 2 }))).toMatchObject({ code: 'compacted' });
      expect(await outcome(store.list(WS, 'MeshPeer', { asOf: { at: START + 150 } }))).toMatchObject({
        code: 'compacted',
      });
      expect(await store.revisionAt(WS, START + 150)).toBeUndefined();
      expect(await outcome(store.commits(WS, 2, 10))).toMatchObject({ code: 'compacted' });
      expect((await store.commits(WS, 3, 10)).map(({ revision }) => revision)).toEqual([4]);
      expect(await store.history(WS, peer('a'))).toEqual([{ revision: 1, at: START, record: stored(draft('a'), 1) }]);
      expect((await store.audit(WS, { limit: 10 })).map(({ commit }) => commit?.revision)).toEqual([
        undefined,
        4,
        3,
        2,
        1,
      ]);
    });

    test('drops and gives up nothing under a lease that another has by now', async () => {
      const store = await withThreeRevisions(open);
      const { fence = 0 } = (await store.acquire('leader', 'a', 1_000)) ?? {};
      const under = (held: number, keep: readonly number[]) =>
        outcome(store.compact(WS, 3, keep, { lease: 'leader', fence: held }));
      await store.release('leader', 'a');
      const next = (await store.acquire('leader', 'b', 1_000))?.fence ?? 0;
      const fenced = { code: 'fenced', subject: 'leader' };
      expect(await under(fence, [])).toEqual(fenced);
      expect(await store.get(WS, peer('a'), { revision: 1 })).toEqual(stored(draft('a'), 1));
      expect(await under(next, [1])).toBe(1);
      expect(await under(fence, [])).toEqual(fenced);
      expect(await store.get(WS, peer('a'), { revision: 1 })).toEqual(stored(draft('a'), 1));
    });

    test('gives up a kept revision once it is no longer named and cannot bring it back', async () => {
      const store = await withThreeRevisions(open);
      expect(await store.compact(WS, 3, [2])).toBe(1);
      expect(await store.compact(WS, 3, [])).toBe(1);
      expect(await store.compact(WS, 3, [2])).toBe(0);
      expect(await outcome(store.get(WS, peer('a'), { revision: 2 }))).toMatchObject({ code: 'compacted' });
      expect(await store.history(WS, peer('a'))).toEqual([]);
      expect(await store.compact('w_none', 3, [])).toBe(0);
    });

    test('counts the bytes of the versions a range of revisions wrote', async () => {
      const store = await withThreeRevisions(open);
      const [first, second, third, all] = await Promise.all([
        store.sizeBetween(WS, 0, 1),
        store.sizeBetween(WS, 1, 2),
        store.sizeBetween(WS, 2, 3),
        store.sizeBetween(WS, 0, 99),
      ]);
      expect(first).toBeGreaterThan(0);
      expect(third).toBe(0);
      expect(all).toBe(first + second);
    });
  });
}

/** Created at START, updated 100 ms later, deleted 200 ms later. */
async function withThreeRevisions(open: OpenStore): Promise<Store> {
  const clock = testClock();
  const store = await opened(open, clock);
  await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
  clock.set(START + 100);
  await store.commit(WS, [{ op: 'update', record: draft('a', { spec: 2 }), revision: 1 }], WHY);
  clock.set(START + 200);
  await store.commit(WS, [{ op: 'delete', key: peer('a') }], WHY);
  return store;
}
