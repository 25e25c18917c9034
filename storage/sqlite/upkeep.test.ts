import {
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { rescuedBeside } from '../rescued-files.ts';
import { openSqliteStore } from './store.ts';
import { rewriteDatabase } from './upkeep.ts';

const PAGE_BYTES = 4_096;
const BALLAST_BYTES = 8 * 1024 * 1024;
const clock = { now: () => 0 };

function newPath(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-upkeep-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'mesh.db');
}

async function openAt(file: string) {
  const store = await openSqliteStore({ path: file, clock, log: silentLog });
  onTestFinished(() => store.close());
  return store;
}

const login = [{ type: 'login', actor: 'user:ada', result: 'ok' }] as const;

test.each<[string, (file: string) => void, RegExp]>([
  ['the database is removed', (file) => rmSync(file), /mesh\.db was removed or replaced/],
  ['its log is removed', (file) => rmSync(`${file}-wal`), /mesh\.db-wal was removed or replaced/],
  ['the database is cut short', (file) => truncateSync(file, PAGE_BYTES), /mesh\.db was cut short/],
  ['its log is cut short', (file) => truncateSync(`${file}-wal`, PAGE_BYTES), /mesh\.db-wal was cut short/],
  [
    'another file takes the place of the database',
    (file) => {
      renameSync(file, `${file}.away`);
      writeFileSync(file, '');
    },
    /mesh\.db was removed or replaced/,
  ],
])('once %s no write is acknowledged, then or later', async (_what, lose, message) => {
  const file = newPath();
  const store = await openAt(file);
  await store.record('w', login);
  store.upkeep.checkpoint();
  await store.record('w', login);
  expect(store.upkeep.problem()).toBeUndefined();
  lose(file);
  await expect(store.record('w', login)).rejects.toThrow(message);
  await expect(store.record('w', login)).rejects.toMatchObject({
    code: 'lost',
    message: expect.stringMatching(message),
  });
  expect(store.upkeep.problem()).toMatch(message);
});

test('what the store still knows is written beside a database that was removed', async () => {
  const file = newPath();
  const store = await openAt(file);
  await store.record('w', login);
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`);
  const copy = await store.upkeep.rescue();
  expect(readdirSync(path.dirname(file))).toEqual([path.basename(copy ?? '')]);
  const rescued = await openAt(copy ?? '');
  expect([copy, await rescued.audit('w', { limit: 9 })]).toEqual([`${file}.rescued`, [expect.anything()]]);
});

test('what was rescued stays when the next database is removed too', async () => {
  const file = newPath();
  const copies: (string | undefined)[] = [];
  for (const actor of ['user:ada', 'user:bob']) {
    const store = await openAt(file);
    await store.record('w', [{ type: 'login', actor, result: 'ok' }]);
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`);
    copies.push(await store.upkeep.rescue());
  }
  expect(copies).toEqual([`${file}.rescued`, `${file}.rescued-2`]);
  const [first] = await (await openAt(copies[0] ?? '')).audit('w', { limit: 9 });
  expect(first?.actor).toBe('user:ada');
});

test('of what was rescued the first and the newest stay, five in all', async () => {
  const file = newPath();
  let newest: string | undefined;
  for (let nth = 1; nth <= 8; nth += 1) {
    const store = await openAt(file);
    await store.record('w', [{ type: 'login', actor: `user:${nth}`, result: 'ok' }]);
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`);
    newest = await store.upkeep.rescue();
    // As old as it is: all are made within one second here.
    utimesSync(newest ?? '', nth, nth);
  }
  const actorIn = async (copy: string) => (await (await openAt(copy)).audit('w', { limit: 9 }))[0]?.actor;
  const found = await Promise.all(rescuedBeside(file).map(async (copy) => [copy, await actorIn(copy)] as const));
  const actors = found.map(([, actor]) => actor);
  expect(actors.toSorted()).toEqual(['user:1', 'user:5', 'user:6', 'user:7', 'user:8']);
  expect(new Map(found).get(newest ?? '')).toBe('user:8');
});

test('of a database that was cut short nothing is kept where what is left is not whole, and nothing half written stays', async () => {
  const file = newPath();
  const store = await openAt(file);
  await store.record('w', login);
  store.upkeep.checkpoint();
  leaveSpace(file);
  truncateSync(file, PAGE_BYTES);
  expect(await store.upkeep.rescue()).toBeUndefined();
  expect(readdirSync(path.dirname(file)).filter((name) => name.includes('.rescued'))).toEqual([]);
});

test('the log moves into the database, so that the file alone holds what was written', async () => {
  const file = newPath();
  const store = await openAt(file);
  await store.record('w', login);
  const before = store.upkeep.bytes();
  store.upkeep.checkpoint();
  expect(store.upkeep.bytes().file).toBeGreaterThan(before.file);
  await store.record('w', login);
  expect(store.upkeep.problem()).toBeUndefined();
});

/** Space in the file of a store that nothing uses any more. */
function leaveSpace(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(
    `CREATE TABLE ballast (x BLOB); INSERT INTO ballast VALUES (zeroblob(${BALLAST_BYTES})); DROP TABLE ballast`,
  );
  database.close();
}

test('free pages are given back in small steps while the store is in use', async () => {
  const file = newPath();
  await (await openAt(file)).close();
  leaveSpace(file);
  const store = await openAt(file);
  const given = store.upkeep.vacuum();
  await store.record('w', login);
  expect((await given) * PAGE_BYTES).toBeGreaterThan(BALLAST_BYTES / 2);
  store.upkeep.checkpoint();
  expect(statSync(file).size).toBeLessThan(BALLAST_BYTES / 2);
  expect(await store.upkeep.vacuum()).toBe(0);
  await store.record('w', login);
  expect(await store.audit('w', { limit: 9 })).toHaveLength(2);
});

test('a file that an older version made gives pages back once it was rewritten', async () => {
  const file = newPath();
  const older = new DatabaseSync(file);
  older.exec('PRAGMA journal_mode = WAL; CREATE TABLE first (x)');
  older.close();
  await (await openAt(file)).close();
  leaveSpace(file);
  const store = await openAt(file);
  expect(await store.upkeep.vacuum()).toBe(0);
  await store.close();
  const { before, after } = rewriteDatabase(file);
  expect(before - after).toBeGreaterThan(BALLAST_BYTES / 2);
  leaveSpace(file);
  expect(await (await openAt(file)).upkeep.vacuum()).toBeGreaterThan(0);
});
