import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { leafDataOf } from '../../core/audit/leaf.ts';
import { GrowingTree, leafHash, rootOf } from '../../core/audit/tree.ts';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { AuditEntry, AuditTree, SecurityEvent } from '../../core/base/ports.ts';
import { draft, type OpenStore, opened, outcome, peer, START, WHY, WS } from './kit.ts';

const EVENT: SecurityEvent = { type: 'login', actor: 'user:ada', result: 'ok' };
/** More entries than one full tile and the level above it need. */
const MANY = 530;

export function treeContract(open: OpenStore): void {
  describe('the tree of the log', () => {
    test('has a leaf for each entry of its workspace alone, numbered from 0', async () => {
      const store = await opened(open);
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      await store.commit('w_other', [{ op: 'create', record: draft('b') }], WHY);
      await store.record(WS, [EVENT, EVENT]);
      const tree = store.auditTree(WS);
      expect(await tree.size()).toBe(3);
      expect(await store.auditTree('w_other').size()).toBe(1);
      expect(await store.auditTree('w_none').size()).toBe(0);
      expect(await store.auditTree('w_none').entries(0, 9)).toEqual([]);
      const entries = (await tree.entries(0, 9)).map((text) => JSON.parse(text));
      expect((await store.audit(WS, { limit: 9 })).toReversed()).toEqual(
        entries.map((entry: object, seq) => ({ seq, ...entry })),
      );
      expect(await tree.entries(1, 1)).toEqual([JSON.stringify(entries[1])]);
    });

    test('has at every size the root that its entries have by themselves', async () => {
      const store = await opened(open);
      const tree = store.auditTree(WS);
      const roots: string[] = [];
      for (let size = 0; size <= 70; size += 1) {
        roots.push(await rootAt(tree, size));
        await store.record(WS, [EVENT]);
      }
      const growing = new GrowingTree();
      for (const text of ['', ...(await tree.entries(0, 70))]) {
        if (text !== '') growing.append(leafHash(text));
        expect(Buffer.from(growing.root()).toString('hex')).toBe(roots[growing.size]);
      }
      for (let size = 0; size <= 70; size += 1) expect(await rootAt(tree, size)).toBe(roots[size]);
    });

    test('grows by no entry of a commit that fails beside others', async () => {
      const store = await opened(open);
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      const writes = Array.from({ length: MANY }, (_, n) =>
        outcome(store.commit(WS, [{ op: 'create', record: draft(n % 3 === 0 ? 'a' : `n${n}`) }], WHY)),
      );
      const made = (await Promise.all(writes)).filter((answer) => 'revision' in answer).length;
      const tree = store.auditTree(WS);
      expect(await tree.size()).toBe(made + 1);
      const growing = new GrowingTree();
      for (const text of await tree.entries(0, MANY)) growing.append(leafHash(text));
      expect(await rootAt(tree, made + 1)).toBe(Buffer.from(growing.root()).toString('hex'));
    });

    test('refuses the hash of a subtree that is not complete', async () => {
      const store = await opened(open);
      await store.record(WS, [EVENT, EVENT, EVENT]);
      const tree = store.auditTree(WS);
      expect(await tree.hashes([{ level: 1, index: 0 }])).toHaveLength(1);
      for (const id of [
        { level: 0, index: 3 },
        { level: 1, index: 1 },
        { level: 2, index: 0 },
        { level: 50, index: 0 },
      ]) {
        expect(await outcome(tree.hashes([id]))).toMatchObject({ code: 'not_found' });
      }
    });

    test('says by a digest what each change stored, another one for another body', async () => {
      const store = await opened(open);
      await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
      await store.commit(WS, [{ op: 'update', record: draft('a', { status: 'x' }), revision: 1 }], WHY);
      await store.commit(WS, [{ op: 'update', record: draft('a', { status: 'x' }), revision: 2 }], WHY);
      await store.commit(WS, [{ op: 'delete', key: peer('a') }], WHY);
      const digests = (await store.audit(WS, { limit: 9 })).map(({ commit }) => commit?.changes[0]?.digest);
      const [deleted, again, updated, created] = digests;
      expect(deleted).toBeUndefined();
      expect(again).toBe(updated);
      expect(created).not.toBe(updated);
    });

    test('has a short leaf for a commit of thousands of changes, which holds to the digest of its entry', async () => {
      const store = await opened(open);
      const ops = Array.from({ length: 2_000 }, (_, n) => ({ op: 'create', record: draft(`n${n}`) }) as const);
      await store.commit(WS, ops, WHY);
      const tree = store.auditTree(WS);
      const [entry = ''] = await tree.entries(0, 1);
      expect((JSON.parse(entry) as AuditEntry).commit?.changes).toHaveLength(2_000);
      const leaf = leafDataOf(entry);
      expect(Buffer.byteLength(leaf)).toBeLessThanOrEqual(65_535);
      expect(JSON.parse(leaf)).toEqual({
        at: START,
        workspace: WS,
        actor: WHY.actor,
        type: 'commit',
        revision: 1,
        entry: { bytes: Buffer.byteLength(entry), sha256: createHash('sha256').update(entry).digest('hex') },
      });
      expect(await tree.hashes([{ level: 0, index: 0 }])).toEqual([new Uint8Array(leafHash(leaf))]);
    });

    test('keeps the last checkpoint of each day, newest first', async () => {
      const store = await opened(open);
      await store.record(WS, [EVENT]);
      await store.record(SYSTEM_WORKSPACE, [EVENT]);
      const tree = store.auditTree(WS);
      const at = (hours: number) => START + hours * 3_600_000;
      for (const [size, hours] of [
        [1, 0],
        [2, 0.5],
        [3, 24],
        [4, 72],
      ] as const) {
        await tree.keepCheckpoint({ at: at(hours), size, note: `note ${size}` });
      }
      expect(await tree.checkpoints(9)).toEqual([
        { at: at(72), size: 4, note: 'note 4' },
        { at: at(24), size: 3, note: 'note 3' },
        { at: at(0.5), size: 2, note: 'note 2' },
      ]);
      expect(await tree.checkpoints(1)).toHaveLength(1);
      expect(await store.auditTree(SYSTEM_WORKSPACE).checkpoints(9)).toEqual([]);
    });
  });
}

async function rootAt(tree: AuditTree, size: number): Promise<string> {
  const root = await rootOf(size, (ids) => tree.hashes(ids));
  return Buffer.from(root).toString('hex');
}
