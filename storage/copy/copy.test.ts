import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { draft, START, testClock, WHY, WS } from '../contract/kit.ts';
import { openStore, storeAt } from '../open.ts';
import { verifyDatabase } from '../sqlite/verify/verify.ts';
import { copyStore } from './copy.ts';
import type { CopyTarget } from './copy-ends.ts';
import { answersOf, fill, writeOn } from './filled.testkit.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mesh-copy-'));
const filled = path.join(folder, 'filled.db');
let answers: unknown;

beforeAll(async () => {
  const clock = testClock();
  const store = await openStore(filled, { clock, log: silentLog });
  await fill(store, clock);
  answers = await answersOf(store);
  await store.close();
  return () => rmSync(folder, { recursive: true });
});

/** A folder with a copy of the filled database. */
function place(): { from: string; to: string } {
  const own = mkdtempSync(path.join(folder, 'one-'));
  const database = new DatabaseSync(filled, { readOnly: true });
  database.prepare('VACUUM INTO ?').run(path.join(own, 'from.db'));
  database.close();
  return { from: path.join(own, 'from.db'), to: path.join(own, 'to.db') };
}

interface Copying {
  readonly from: string;
  readonly to: string;
  readonly installation?: string;
  readonly now?: number;
  /** What the target does otherwise. */
  readonly over?: (target: CopyTarget) => Partial<CopyTarget>;
}

async function copy({ from, to, installation = 'mesh:1/', now = START, over }: Copying) {
  const source = await storeAt(from).openSource();
  const opened = await storeAt(to).openTarget(now);
  const target = { ...opened, ...over?.(opened) };
  try {
    return await copyStore({ source, target, installation, keys: 'of-1', now, progress() {} });
  } finally {
    await source.close();
    await target.close();
  }
}

async function opened(url: string, clock = testClock(START + 200_000_000)) {
  const store = await openStore(url, { clock, log: silentLog });
  onTestFinished(() => store.close());
  return store;
}

test('a copy answers all that the store answered, and goes on as it would have', async () => {
  const { from, to } = place();
  const { workspaces } = await copy({ from, to });
  expect(workspaces.map(({ head }) => head.name)).toContain(WS);
  const store = await opened(to);
  expect(await answersOf(store)).toEqual(answers);
  expect(await writeOn(store)).toEqual({ code: 'unique', subject: 'ip:10.0.1.4' });
  expect(
    verifyDatabase(to)
      .flatMap(({ findings }) => findings)
      .filter(({ code }) => code !== 'signature'),
  ).toEqual([]);
});

test('no store opens on what was moved, which says where to, until the move is taken back', async () => {
  const { from, to } = place();
  await copy({ from, to });
  await expect(opened(from)).rejects.toThrow(`${from} was moved to sqlite:${to} on 2023-11-14T22:13:20.000Z`);
  const source = await storeAt(from).openSource();
  await source.release();
  await source.close();
  expect(await answersOf(await opened(from))).toEqual(answers);
});

test('what was moved is not moved again, and not elsewhere', async () => {
  const { from, to } = place();
  await copy({ from, to });
  await expect(copy({ from, to: `${to}2` })).rejects.toThrow(
    /was moved to sqlite:.*What is copied is the store that MESH_STORE_URL names, or mesh\.db/,
  );
  await expect(copy({ from, to })).rejects.toThrow(
    'so nothing was copied. What is copied is the store that MESH_STORE_URL names',
  );
  rmSync(to);
  await expect(copy({ from, to })).rejects.toThrow(
    'so nothing was copied. What is copied is the store that MESH_STORE_URL names',
  );
});

test('a store that has something is no target, and is left as it was', async () => {
  const { from, to } = place();
  const used = await opened(to, testClock());
  await used.commit(WS, [{ op: 'create', record: draft('own') }], WHY);
  await used.close();
  await expect(copy({ from, to })).rejects.toThrow(`sqlite:${to} is not empty, so nothing was changed`);
  expect((await (await opened(to)).list(WS, 'MeshPeer')).items).toHaveLength(1);
  expect(await answersOf(await opened(from))).toEqual(answers);
});

test('a file of another program is no target', async () => {
  const { from, to } = place();
  const other = new DatabaseSync(to);
  other.exec('CREATE TABLE theirs (a)');
  other.close();
  await expect(copy({ from, to })).rejects.toThrow('is not empty');
});

test('moved back to where it was, it takes the place of what is older, which is kept aside', async () => {
  const { from, to } = place();
  await copy({ from, to });
  const elsewhere = await opened(to);
  await writeOn(elsewhere);
  const newer = await answersOf(elsewhere);
  await elsewhere.close();
  const { aside } = await copy({ from: to, to: from });
  expect(aside).toBe(`${from}.before-copy-20231114T221320Z`);
  expect(existsSync(aside ?? '')).toBe(true);
  expect(await answersOf(await opened(from))).toEqual(newer);
  await expect(opened(to)).rejects.toThrow('was moved to');
});

test('what was moved away from and has gone on since is not written over', async () => {
  const { from, to } = place();
  await copy({ from, to });
  const source = await storeAt(from).openSource();
  await source.release();
  await source.close();
  const again = await opened(from);
  await again.commit(WS, [{ op: 'create', record: draft('since') }], WHY);
  await again.close();
  await copy({ from, to: `${to}2` });
  await expect(copy({ from: to, to: from })).rejects.toThrow(`(1 more entry of the log of ${WS})`);
});

test.each<[string, (target: CopyTarget) => Partial<CopyTarget>]>([
  ['as it begins', (target) => ({ ...target, addWorkspace: () => Promise.reject(new Error('killed')) })],
  ['in the middle', (target) => ({ ...target, written: () => Promise.reject(new Error('killed')) })],
  ['before it can be started on', (target) => ({ ...target, finish: () => Promise.reject(new Error('killed')) })],
])('a copy that ends %s leaves no store that opens, and is begun again by the next one', async (_, over) => {
  const { from, to } = place();
  await expect(copy({ from, to, over })).rejects.toThrow('killed');
  expect(existsSync(to)).toBe(false);
  await expect(copy({ from, to, installation: 'mesh:2/' })).rejects.toThrow('the begun copy of another installation');
  await copy({ from, to });
  expect(await answersOf(await opened(to))).toEqual(answers);
  await expect(opened(from)).rejects.toThrow('was moved to');
});

test('a copy that differs from what was copied is no copy: the store that was there goes on', async () => {
  const { from, to } = place();
  const over = (target: CopyTarget): Partial<CopyTarget> => ({
    write: (head, part, rows) => target.write(head, part, part === 'versions' ? rows.slice(1) : rows),
  });
  await expect(copy({ from, to, over })).rejects.toThrow(`the versions of ${WS} are others`);
  expect(await answersOf(await opened(from))).toEqual(answers);
});

test('rows that belong to nothing are told, and not left behind', async () => {
  const { from, to } = place();
  const database = new DatabaseSync(from);
  database.exec(
    'INSERT INTO version (record, until, ws, revision, body) SELECT 9999, until, ws, revision, body FROM version LIMIT 1',
  );
  database.close();
  await expect(copy({ from, to })).rejects.toThrow('1 rows (versions) belong to no workspace');
});

test('a store that is in use is not copied', async () => {
  const { from, to } = place();
  await opened(from);
  await expect(copy({ from, to })).rejects.toThrow('is in use');
});
