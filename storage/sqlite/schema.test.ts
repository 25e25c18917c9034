import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { openDatabase } from './database.ts';
import { migrate } from './schema.ts';
import { openSqliteStore } from './store.ts';

/** Of steps that make other tables. */
const unchecked = () => {};
const clock = { now: () => 0 };

async function newPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mesh-store-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'data', 'mesh.db');
}

test('the file and its log can be read by their owner alone', async () => {
  const path = await newPath();
  const store = await openSqliteStore({ path, clock, log: silentLog });
  await store.record('w', [{ type: 'login', actor: 'user:ada', result: 'ok' }]);
  const modes = await Promise.all(
    [path, `${path}-wal`, `${path}-shm`].map(async (file) => (await stat(file)).mode & 0o777),
  );
  await store.close();
  expect(modes).toEqual([0o600, 0o600, 0o600]);
});

test('a file keeps its records, events and leases over a restart', async () => {
  const path = await newPath();
  const first = await openSqliteStore({ path, clock, log: silentLog });
  await first.record('w', [{ type: 'login', actor: 'user:ada', result: 'ok' }]);
  await first.acquire('leader', 'a', 1_000);
  await first.close();
  const second = await openSqliteStore({ path, clock, log: silentLog });
  expect(await second.audit('w', { limit: 9 })).toHaveLength(1);
  expect(await second.acquire('leader', 'b', 1_000)).toBeUndefined();
  await second.close();
});

test('a migration copies the file first, runs each step once and leaves foreign tables alone', async () => {
  const path = await newPath();
  const database = openDatabase(path);
  onTestFinished(() => database.close());
  expect(await migrate(database, ['CREATE TABLE one (x ANY) STRICT;'], unchecked)).toBeUndefined();
  database.exec('CREATE TABLE foreign_table (x); INSERT INTO foreign_table VALUES (7)');
  const steps = ['CREATE TABLE one (x ANY) STRICT;', 'CREATE TABLE two (x ANY) STRICT;'];
  expect(await migrate(database, steps, unchecked)).toBe(`${path}.schema-1.bak`);
  expect(await migrate(database, steps, unchecked)).toBeUndefined();
  expect(tablesOf(database)).toEqual(['foreign_table', 'one', 'two']);
  const copy = openDatabase(`${path}.schema-1.bak`);
  expect(tablesOf(copy)).toEqual(['foreign_table', 'one']);
  copy.close();
  expect((await stat(`${path}.schema-1.bak`)).mode & 0o777).toBe(0o600);
});

test('a failing step changes nothing', async () => {
  const path = await newPath();
  const database = openDatabase(path);
  onTestFinished(() => database.close());
  await migrate(database, ['CREATE TABLE one (x ANY) STRICT;'], unchecked);
  await expect(
    migrate(database, ['', 'CREATE TABLE two (x ANY) STRICT; CREATE TABLE one (x ANY) STRICT;'], unchecked),
  ).rejects.toThrow();
  expect(tablesOf(database)).toEqual(['one']);
});

test('a newer schema, another program and a damaged file are refused with what to do', async () => {
  const newer = await newPath();
  const other = await newPath();
  const damaged = await newPath();
  const opening = (path: string) => openSqliteStore({ path, clock, log: silentLog });
  await (await opening(newer)).close();
  await (await opening(damaged)).close();
  const edit = (path: string, sql: string) => {
    const database = openDatabase(path);
    database.exec(sql);
    database.close();
  };
  edit(newer, 'PRAGMA user_version = 99');
  edit(other, 'PRAGMA application_id = 1');
  await writeFile(damaged, 'this is no database, whatever its name says'.repeat(40));
  await expect(opening(newer)).rejects.toThrow(/schema 99, newer than .* start the newer version or restore a backup/);
  await expect(opening(other)).rejects.toThrow(/belongs to another program; point the store at a file of its own/);
  await expect(opening(damaged)).rejects.toThrow(
    /mesh\.db does not open: file is not a database\. Restore it from a backup: meshd restore FILE/,
  );
  expect(await readdir(join(newer, '..'))).toEqual(['mesh.db']);
});

test('the audit log refuses to be changed or shortened', async () => {
  const path = await newPath();
  const store = await openSqliteStore({ path, clock, log: silentLog });
  await store.record('w', [{ type: 'login', actor: 'user:ada', result: 'ok' }]);
  await store.close();
  const database = openDatabase(path);
  onTestFinished(() => database.close());
  expect(() => database.exec("UPDATE audit SET entry = '{}'")).toThrow(/append-only/);
  expect(() => database.exec('DELETE FROM audit')).toThrow(/append-only/);
});

function tablesOf(database: ReturnType<typeof openDatabase>): string[] {
  return database
    .statement<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
    )
    .all()
    .map(({ name }) => name);
}
