import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { GrowingTree, leafHash, rootOf } from '../../core/audit/tree.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { bodyDigest, packBody } from '../body.ts';
import { openDatabase } from './database.ts';
import { migrate, SCHEMA_1 } from './schema.ts';
import { openSqliteStore } from './store.ts';
import { verifyDatabase } from './verify/verify.ts';

const clock = { now: () => 5_000 };

async function newPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-store-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'mesh.db');
}

const peerBody = (name: string, n: number) =>
  JSON.stringify({
    name,
    uid: `p_${name}`,
    labels: {},
    annotations: {},
    spec: { n },
    status: {},
    unique: [],
    createdAt: 1,
    generation: n,
  });

/** A file as the version before wrote it: two workspaces whose entries alternate, one with a record that was changed. */
async function oldStore(): Promise<string> {
  const path = await newPath();
  const database = openDatabase(path);
  await migrate(database, [SCHEMA_1]);
  for (const id of [1, 2]) {
    database.statement('INSERT INTO workspace (id, name, revision, at) VALUES (?, ?, 2, 20)').run(id, `w_${id}`);
  }
  for (const [revision, type] of [
    [1, 'created'],
    [2, 'updated'],
  ] as const) {
    for (const ws of [1, 2]) {
      const changes = [{ type, kind: 'MeshPeer', name: 'Web', uid: 'p_Web' }];
      const commit = { actor: 'user:ada', reason: 'r', requestId: 'q', revision, at: revision * 10, changes };
      const entry = JSON.stringify({
        at: revision * 10,
        workspace: `w_${ws}`,
        actor: 'user:ada',
        type: 'commit',
        commit,
      });
      database
        .statement('INSERT INTO audit (ws, at, revision, entry, leaf) VALUES (?, ?, ?, ?, ?)')
        .run(ws, revision * 10, revision, entry, leafHash(entry));
    }
  }
  database
    .statement(
      "INSERT INTO record (id, ws, kind, name, uid, revision, body) VALUES (1, 1, 'MeshPeer', 'web', 'p_Web', 2, ?)",
    )
    .run(peerBody('Web', 2));
  database
    .statement('INSERT INTO version (record, until, ws, revision, body) VALUES (1, 2, 1, 1, ?)')
    .run(packBody(peerBody('Web', 1)));
  database.close();
  return path;
}

test('a store of the version before keeps its entries to the byte, each workspace numbered by itself', async () => {
  const store = await openSqliteStore({ path: await oldStore(), clock, log: silentLog });
  onTestFinished(() => store.close());
  for (const ws of ['w_1', 'w_2']) {
    const entries = await store.auditTree(ws).entries(0, 9);
    expect(entries.map((text) => JSON.parse(text).workspace)).toEqual([ws, ws, ws]);
    expect((await store.audit(ws, { limit: 9, to: 20 })).map(({ seq, at }) => [seq, at])).toEqual([
      [1, 20],
      [0, 10],
    ]);
    const growing = new GrowingTree();
    for (const text of entries) growing.append(leafHash(text));
    const tree = store.auditTree(ws);
    expect(Buffer.from(await rootOf(3, (ids) => tree.hashes(ids)))).toEqual(growing.root());
  }
});

test('a store of the version before says what it holds from now on, by an entry with the digest of each version', async () => {
  const store = await openSqliteStore({ path: await oldStore(), clock, log: silentLog });
  onTestFinished(() => store.close());
  const [witnessed] = await store.audit('w_1', { limit: 1 });
  expect(witnessed?.event).toMatchObject({ type: 'audit.witnessed', actor: 'system:upgrade' });
  expect(witnessed?.event?.detail).toEqual({
    revision: 2,
    records: [1, 2].map((n) => ({
      kind: 'MeshPeer',
      name: 'web',
      revision: n,
      digest: bodyDigest(peerBody('Web', n)),
    })),
  });
  const [empty] = await store.audit('w_2', { limit: 1 });
  expect(empty?.event?.detail).toEqual({ revision: 2, records: [] });
  const commit = await store.commit('w_1', [{ op: 'delete', key: { kind: 'MeshPeer', name: 'web' } }], {
    actor: 'user:ada',
    reason: 'r',
    requestId: 'q',
  });
  expect(commit.revision).toBe(3);
  expect((await store.audit('w_1', { limit: 1 }))[0]?.seq).toBe(3);
});

test('an entry of an older store whose text is not the one that was hashed is named, in the log and by verification', async () => {
  const path = await oldStore();
  const database = openDatabase(path);
  database.exec(`DROP TRIGGER audit_is_never_changed;
    UPDATE audit SET entry = replace(entry, 'user:ada', 'user:eve') WHERE ws = 2 AND revision = 2;
    CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'append-only'); END`);
  database.close();
  const store = await openSqliteStore({ path, clock, log: silentLog });
  const [newest] = await store.audit('w_2', { limit: 1 });
  await store.close();
  expect(newest?.event).toMatchObject({ type: 'audit.leaf_differed', detail: { entries: [1] } });
  const found = verifyDatabase(path, 'w_2')[0]?.findings.map(({ message }) => message);
  expect(found).toContainEqual(expect.stringContaining('Entry 1: its text was not the one that was hashed when'));
  expect(verifyDatabase(path, 'w_1')[0]?.findings.filter(({ code }) => code === 'entry_changed')).toEqual([]);
});
