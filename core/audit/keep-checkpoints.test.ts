import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { buildLogKeys, newLogKey, rotated, type StoredLogKey } from '../../storage/log-keys.ts';
import { buildKit, type Kit } from '../../test/kits/plane/kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { openCheckpoint } from './checkpoint.ts';
import { keepCheckpoint, keepCheckpoints, keepHead, makeCheckpoint, noteKeysOf, rootAt } from './keep-checkpoints.ts';
import { headsInMemory } from './log-keys.ts';

const HOUR_MS = 3_600_000;

async function kitOnFile() {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'mesh.db');
  return { kit: await buildKit({ path }), path };
}

/** Changes the file behind the back of the store, as somebody with the disk would. */
function tamper(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(`DROP TRIGGER audit_is_never_changed; DROP TRIGGER audit_is_never_deleted; ${sql}`);
  database.close();
}

const event = { type: 'login', actor: 'user:ada', result: 'ok' } as const;

async function sizesKept({ services }: Kit, workspace: string): Promise<number[]> {
  return (await services.store.auditTree(workspace).checkpoints(99)).map(({ size }) => size);
}

test('a checkpoint says the size and root of the log and verifies with the public key of the installation', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const made = await makeCheckpoint(kit.services, workspace);
  const { logs } = kit.services.keys;
  const tree = kit.services.store.auditTree(workspace);
  const opened = openCheckpoint(made.note, noteKeysOf(logs, workspace));
  expect(opened).toMatchObject({ origin: logs.originOf(workspace), size: await tree.size() });
  expect(opened?.root).toEqual(Buffer.from(await rootAt(tree, await tree.size())));
  expect(openCheckpoint(made.note, noteKeysOf(logs, 'w_other'))).toBeUndefined();
  expect(made.note).toMatch(/^mesh\.internal\/log\/[0-9a-f]{16}\/w_[a-z2-7]{26}\n\d+\n/);
});

test('each log with something new gets a checkpoint, one without gets none until a day has passed', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  await keepCheckpoints(kit.services);
  const [size = 0] = await sizesKept(kit, workspace);
  expect(size).toBeGreaterThan(0);
  expect(await sizesKept(kit, SYSTEM_WORKSPACE)).toHaveLength(1);
  kit.clock.time += 13 * HOUR_MS;
  await keepCheckpoints(kit.services);
  expect(await sizesKept(kit, workspace)).toEqual([size]);
  await kit.services.store.record(workspace, [event]);
  await keepCheckpoints(kit.services);
  expect(await sizesKept(kit, workspace)).toEqual([size + 1, size]);
  kit.clock.time += 24 * HOUR_MS;
  await keepCheckpoints(kit.services);
  expect(await sizesKept(kit, workspace)).toEqual([size + 2, size + 1, size]);
  const [newest] = await kit.services.store.audit(workspace, { limit: 1 });
  expect(newest?.event).toMatchObject({ type: 'audit.no_activity', detail: { since: '2026-01-06T01:00:00.000Z' } });
});

test('a log that is not there yet is passed over', async () => {
  await using kit = await buildKit();
  await keepCheckpoints(kit.services);
  await keepCheckpoint(kit.services, 'w_none');
  expect(await sizesKept(kit, SYSTEM_WORKSPACE)).toEqual([]);
});

test('a log that was rewritten with its checkpoints taken out of the database is not signed', async () => {
  const { kit, path } = await kitOnFile();
  await using _ = kit;
  const workspace = await kit.workspace();
  await kit.services.store.record(workspace, [event, event]);
  await keepCheckpoints(kit.services);
  const own = `(SELECT id FROM workspace WHERE name = '${workspace}')`;
  tamper(path, `DELETE FROM checkpoint; UPDATE audit SET hashes = zeroblob(length(hashes)) WHERE ws = ${own}`);
  await kit.services.store.record(workspace, [event]);
  const made = makeCheckpoint(kit.services, workspace);
  await expect(made).rejects.toThrow(/kept apart from the database, has another root/);
  expect(await sizesKept(kit, workspace)).toEqual([]);
});

test('a log that was taken out of the database as a whole is missed', async () => {
  const { kit, path } = await kitOnFile();
  await using _ = kit;
  const workspace = await kit.workspace();
  await keepCheckpoints(kit.services);
  const own = `(SELECT id FROM workspace WHERE name = '${workspace}')`;
  const rows = ['checkpoint', 'audit', 'record'].map((table) => `DELETE FROM ${table} WHERE ws = ${own};`);
  tamper(path, `${rows.join(' ')} DELETE FROM workspace WHERE name = '${workspace}'`);
  await expect(keepCheckpoints(kit.services)).rejects.toThrow(
    /kept apart from the database, has \d+ entries, the log 0/,
  );
});

test('a checkpoint that was taken out of the database is put back where the log holds it', async () => {
  const { kit, path } = await kitOnFile();
  await using _ = kit;
  const workspace = await kit.workspace();
  const made = await makeCheckpoint(kit.services, workspace);
  tamper(path, 'DELETE FROM checkpoint');
  expect((await makeCheckpoint(kit.services, workspace)).note).toBe(made.note);
  expect(await sizesKept(kit, workspace)).toEqual([made.size]);
});

test('a key verifies nothing that was signed after its time, and the next key signs the log anew', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const { services, clock } = kit;
  const until = clock.time + HOUR_MS;
  const first = newLogKey(0);
  const withKeys = (...stored: StoredLogKey[]) => {
    const logs = buildLogKeys(stored, services.keys.controlKey, headsInMemory());
    return { ...services, keys: { ...services.keys, logs } };
  };
  const made = await makeCheckpoint(withKeys(first), workspace);
  const [old, next] = rotated([first], until);
  if (!old || !next) throw new TypeError('a key is missing');
  const after = withKeys(old, next);
  expect(openCheckpoint(made.note, noteKeysOf(after.keys.logs, workspace, clock.time))).toMatchObject({
    size: made.size,
  });
  expect(openCheckpoint(made.note, noteKeysOf(after.keys.logs, workspace, until + 1))).toBeUndefined();
  const anew = await makeCheckpoint(after, workspace);
  expect(anew.size).toBe(made.size);
  expect(openCheckpoint(anew.note, noteKeysOf(after.keys.logs, workspace))?.key.publicKey).toEqual(
    new Uint8Array(Buffer.from(next.publicKey, 'base64')),
  );
  expect(await sizesKept(kit, workspace)).toEqual([made.size]);
  await services.store.auditTree(workspace).keepCheckpoint({ ...made, at: until + 1 });
  await expect(makeCheckpoint(after, workspace)).rejects.toThrow(/signed by no key that this installation had then/);
});

test.each([
  ['the end of its log was cut', 'DELETE FROM audit WHERE seq >= 3 AND ws = :ws', /its end is missing/],
  [
    'a hash below its root was changed',
    'UPDATE audit SET hashes = zeroblob(length(hashes)) WHERE ws = :ws',
    /another root/,
  ],
  ['it is none of this installation', "UPDATE checkpoint SET note = replace(note, 'w_', 'x_')", /signed by no key/],
])('nothing is signed on top of a checkpoint once %s, and the other logs go on', async (_what, sql, why) => {
  const { kit, path } = await kitOnFile();
  await using _ = kit;
  const workspace = await kit.workspace();
  await kit.services.store.record(workspace, [event, event, event]);
  await keepCheckpoints(kit.services);
  const kept = await sizesKept(kit, workspace);
  tamper(path, sql.replace(':ws', `(SELECT id FROM workspace WHERE name = '${workspace}')`));
  if (!sql.includes('DELETE')) await kit.services.store.record(workspace, [event]);
  await expect(makeCheckpoint(kit.services, workspace)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(makeCheckpoint(kit.services, workspace)).rejects.toThrow(why);
  await kit.services.store.record(SYSTEM_WORKSPACE, [event]);
  await expect(keepCheckpoints(kit.services)).rejects.toThrow();
  expect(await sizesKept(kit, workspace)).toEqual(kept);
});

test('the head follows the log apart from the database, and does not follow one that lost what was signed', async () => {
  const { kit, path } = await kitOnFile();
  await using _ = kit;
  const { store, keys } = kit.services;
  const workspace = await kit.workspace();
  await keepHead(kit.services, workspace);
  const [size = 0] = await sizesKept(kit, workspace);
  await store.record(workspace, [event]);
  await keepHead(kit.services, workspace);
  const sizeOfHead = async () =>
    openCheckpoint((await keys.logs.heads.newest(workspace)) ?? '', noteKeysOf(keys.logs, workspace))?.size;
  expect([await sizeOfHead(), await sizesKept(kit, workspace)]).toEqual([size + 1, [size]]);
  tamper(path, `DELETE FROM audit WHERE seq >= ${size}`);
  await expect(keepHead(kit.services, workspace)).rejects.toThrow(/its end is missing/);
  expect(await sizeOfHead()).toBe(size + 1);
});
