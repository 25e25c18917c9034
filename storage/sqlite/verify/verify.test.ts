import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { signCheckpoint } from '../../../core/audit/checkpoint.ts';
import { contradiction } from '../../../core/audit/findings.ts';
import { leafDataOf } from '../../../core/audit/leaf.ts';
import { GrowingTree, leafHash } from '../../../core/audit/tree.ts';
import type { Store } from '../../../core/base/ports.ts';
import type { RecordDraft } from '../../../core/base/record.ts';
import { silentLog } from '../../../core/base/silent-log.ts';
import { bodyDigest } from '../../body.ts';
import { draft, peer, START, testClock, WHY, WS } from '../../contract/kit.ts';
import { newLogKey } from '../../log-keys.ts';
import { openSqliteStore } from '../store.ts';
import { verifyDatabase } from './verify.ts';

const HOUR_MS = 3_600_000;
const folder = mkdtempSync(path.join(tmpdir(), 'mesh-verify-'));
const original = path.join(folder, 'mesh.db');
const yesterday = path.join(folder, 'yesterday.db');
const signer = newLogKey(0);

beforeAll(async () => {
  const clock = testClock();
  const store = await openSqliteStore({ path: original, clock, log: silentLog });
  const create = (record: RecordDraft) => store.commit(WS, [{ op: 'create', record }], WHY);
  const update = async (name: string, spec: unknown) => {
    const { revision = 0 } = (await store.get(WS, peer(name))) ?? {};
    return store.commit(WS, [{ op: 'update', record: draft(name, { spec }), revision }], WHY);
  };
  for (const name of ['a', 'b', 'c', 'd']) await create(draft(name));
  await update('a', 1);
  await update('a', 2);
  await store.commit(WS, [{ op: 'delete', key: peer('b') }], WHY);
  await store.commit(
    WS,
    [
      { op: 'delete', key: peer('c') },
      { op: 'create', record: draft('c', { uid: 'p_c2' }) },
    ],
    WHY,
  );
  await create(draft('t', { kind: 'Token', uid: 'tok_1', unique: ['token:0a1b'] }));
  await create(draft('u', { kind: 'Token', uid: 'tok_2', unique: ['token:2c3d'] }));
  await store.commit(WS, [{ op: 'delete', key: { kind: 'Token', name: 'u' } }], WHY);
  await keepCheckpoint(store, START);
  backUp(original, yesterday);
  clock.set(START + 24 * HOUR_MS);
  await update('a', 3);
  await update('d', 'new');
  await store.record(WS, [{ type: 'login', actor: 'user:eve', result: 'refused' }]);
  await store.commit('w_other', [{ op: 'create', record: draft('x') }], WHY);
  await keepCheckpoint(store, clock.now());
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function keepCheckpoint(store: Store, at: number): Promise<void> {
  const tree = store.auditTree(WS);
  const growing = new GrowingTree();
  for (const text of await tree.entries(0, 1_000)) growing.append(leafHash(text));
  const checkpoint = { origin: `test/${WS}`, size: growing.size, root: growing.root() };
  const note = signCheckpoint(checkpoint, Buffer.from(signer.publicKey, 'base64'), signer.privateKey ?? '');
  await tree.keepCheckpoint({ at, size: checkpoint.size, note });
}

function backUp(from: string, to: string): void {
  const database = new DatabaseSync(from);
  database.exec(`VACUUM INTO '${to}'`);
  database.close();
}

/** A copy of the database that somebody edits past the store. */
function tampered(edit: (database: DatabaseSync) => void): string {
  const copy = path.join(mkdtempSync(path.join(tmpdir(), 'mesh-tampered-')), 'mesh.db');
  onTestFinished(() => rmSync(path.dirname(copy), { recursive: true, force: true }));
  copyFileSync(original, copy);
  withoutTriggers(copy, edit);
  return copy;
}

/** Puts the triggers of a file back once it was edited, unless the edit made others or took their table. */
function withoutTriggers(file: string, edit: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file);
  const triggers = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`);
  edit(database);
  const has = database.prepare('SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ?');
  for (const { name, sql: text } of triggers)
    if (has.get('table', 'audit') && !has.get('trigger', `${name}`)) database.exec(`${text}`);
  database.close();
}

function findingsIn(file: string): string[] {
  return verifyDatabase(file).flatMap(({ findings }) => findings.map(({ code, message }) => `${code}: ${message}`));
}

/** What somebody does who knows how the log is hashed: every hash after an edit is made anew. */
function rehash(database: DatabaseSync): void {
  const tree = new GrowingTree();
  const rows = database.prepare(`SELECT seq, entry FROM audit WHERE ws = (${OWN}) ORDER BY seq`).all();
  for (const { seq, entry } of rows as { seq: number; entry: string }[]) {
    const hashes = tree.append(leafHash(leafDataOf(entry)));
    database.prepare(`UPDATE audit SET hashes = ? WHERE ws = (${OWN}) AND seq = ?`).run(Buffer.concat(hashes), seq);
  }
}

const OWN = `SELECT id FROM workspace WHERE name = '${WS}'`;
const sql = (text: string) => (database: DatabaseSync) => database.exec(text);
const entryOf = (seq: number) => `ws = (${OWN}) AND seq = ${seq}`;

test('a store that nobody touched verifies, each record and version of it compared', () => {
  const [other, own] = verifyDatabase(original).toSorted((a, b) => a.entries - b.entries);
  expect([other?.findings, own?.findings]).toEqual([[], []]);
  expect([other?.compared, own?.compared]).toEqual([1, 10]);
  expect(own?.checkpoints).toHaveLength(2);
  expect(verifyDatabase(original, 'w_other').map(({ workspace }) => workspace)).toEqual(['w_other']);
});

test.each<[string, (database: DatabaseSync) => void, RegExp]>([
  [
    'a byte of a record',
    sql(`UPDATE record SET body = replace(body, '"new"', '"old"') WHERE name = 'd'`),
    /^record_changed: w_contract: MeshPeer d at revision 13 was changed/,
  ],
  [
    'a record of a kind without history',
    sql(`UPDATE record SET body = replace(body, 'tok_1', 'tok_9') WHERE name = 't'`),
    /^record_changed: .*Token t/,
  ],
  [
    'a byte of a version',
    (db) => flipVersion(db),
    /^version_changed: .*MeshPeer a as it was from revision \d+ was changed/,
  ],
  ['a record taken out', sql("DELETE FROM record WHERE name = 't'"), /^record_missing: .*Token t/],
  [
    'a record marked as deleted',
    sql("UPDATE record SET body = NULL WHERE name = 'd'"),
    /^record_missing: .*MeshPeer d/,
  ],
  [
    'a record put in',
    sql(
      `INSERT INTO record (ws, kind, name, uid, revision, body) SELECT ws, kind, 'evil', 'p_evil', revision, body FROM record WHERE name = 'd'`,
    ),
    /^record_unknown: .*MeshPeer evil/,
  ],
  [
    'a deleted record brought back',
    sql(`UPDATE record SET body = (SELECT body FROM record WHERE name = 'd') WHERE name = 'b'`),
    /^record_changed: .*MeshPeer b .* the log deletes it/,
  ],
  [
    'an older revision',
    sql("UPDATE record SET revision = 3 WHERE name = 'a'"),
    /^record_changed: .*MeshPeer a at revision 3 is stored; the log writes it at revision 12/,
  ],
  [
    'versions moved to another workspace',
    sql(`UPDATE version SET ws = (SELECT id FROM workspace WHERE id != (${OWN}))`),
    /^lookup_changed: .*version are of another/,
  ],
  ['versions moved to none', sql('UPDATE version SET ws = 999'), /^lookup_changed: .*workspace that was taken out/],
  [
    'another workspace taken out',
    sql(`DELETE FROM workspace WHERE id != (${OWN})`),
    /^lookup_changed: .*workspace that was taken out/,
  ],
  ['a version taken out', sql('DELETE FROM version WHERE until = 6'), /^version_missing: .*MeshPeer a/],
  [
    'a version moved',
    sql('UPDATE version SET until = 7 WHERE until = 6'),
    /^version_changed: .*the log has no such version/,
  ],
  ['the id of a record', sql("UPDATE record SET uid = 'p_z' WHERE name = 'd'"), /^lookup_changed: .*MeshPeer d/],
  [
    'whom a token is',
    sql(`UPDATE unique_value SET record = (SELECT id FROM record WHERE name = 'd')`),
    /^lookup_changed: .*"token:…"/,
  ],
  ['a token taken out', sql('DELETE FROM unique_value'), /^lookup_changed/],
  [
    'a trigger that undoes what is written',
    sql(
      `CREATE TRIGGER unseen AFTER INSERT ON audit WHEN instr(NEW.entry, 'user:eve') BEGIN DELETE FROM audit WHERE seq = NEW.seq; END`,
    ),
    /^damaged: The file has the trigger unseen, which no version of Mesh makes/,
  ],
  [
    'a trigger of ours that does something else',
    sql('CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN SELECT 1; END'),
    /^damaged: The file has the trigger audit_is_never_changed/,
  ],
  [
    'a view in the place of the log',
    sql('ALTER TABLE audit RENAME TO audit_kept; CREATE VIEW audit AS SELECT * FROM audit_kept'),
    /^damaged: The file has the view audit,/,
  ],
  [
    'the text of an entry',
    sql(`UPDATE audit SET entry = replace(entry, 'user:ada', 'user:bob') WHERE ${entryOf(4)}`),
    /^entry_changed: .*Entry 4: its text/,
  ],
  [
    'the text of an entry, hashed anew',
    (db) => {
      db.exec(`UPDATE audit SET entry = replace(entry, 'user:ada', 'user:bob') WHERE ${entryOf(4)}`);
      rehash(db);
    },
    /^forked: A checkpoint kept in the database saw/,
  ],
  [
    'a hash',
    sql(`UPDATE audit SET hashes = CAST(hashes || zeroblob(32) AS BLOB) WHERE ${entryOf(4)}`),
    /^root: .*Entry 4/,
  ],
  ['an entry taken out', sql(`DELETE FROM audit WHERE ${entryOf(4)}`), /^entry_removed: .*Entries 4 to 4 are missing/],
  [
    'the tail cut',
    sql(`DELETE FROM audit WHERE ws = (${OWN}) AND seq >= 12`),
    /^shortened: w_contract is at revision 13, its log ends with revision 12: the end of the log was cut/,
  ],
  [
    'a lone event cut off the end',
    sql(`DELETE FROM audit WHERE ${entryOf(13)}`),
    /^shortened: A checkpoint kept in the database saw 14 entries/,
  ],
  ['an entry inserted', (db) => insert(db, 4), /^forked: A checkpoint kept in the database saw/],
  [
    'an entry of another workspace',
    sql(`UPDATE audit SET entry = (SELECT entry FROM audit WHERE ws != (${OWN})) WHERE ${entryOf(2)}`),
    /^order: .*Entry 2 does not belong/,
  ],
  [
    'an entry made no entry',
    sql(`UPDATE audit SET entry = 'x' WHERE ${entryOf(2)}`),
    /^entry_changed: .*Entry 2 is no entry/,
  ],
  ['a checkpoint', sql("UPDATE checkpoint SET note = 'x'"), /^signature: /],
  [
    'a digest told anew by a forged entry',
    (db) => forgeWitness(db),
    /^record_unknown: .*MeshPeer d at revision 13, which no commit wrote so/,
  ],
])('of a store with %s somebody else is told what was found', (_what, edit, finding) => {
  const found = findingsIn(tampered(edit));
  expect(
    found.filter((each) => finding.test(each)),
    found.join('\n'),
  ).not.toEqual([]);
});

function flipVersion(database: DatabaseSync): void {
  const row = database.prepare('SELECT record, until, body FROM version ORDER BY until LIMIT 1').get() as {
    record: number;
    until: number;
    body: Uint8Array;
  };
  const body = Buffer.from(row.body);
  body[body.length - 4] = (body[body.length - 4] ?? 0) ^ 1;
  database.prepare('UPDATE version SET body = ? WHERE record = ? AND until = ?').run(body, row.record, row.until);
}

/** Shifts what follows by one, and hashes everything anew. */
function insert(database: DatabaseSync, at: number): void {
  database.exec(
    `UPDATE audit SET seq = -seq - 2 WHERE ws = (${OWN}) AND seq >= ${at}; UPDATE audit SET seq = -seq - 1 WHERE seq < 0;`,
  );
  const entry = JSON.stringify({
    at: START,
    workspace: WS,
    actor: 'user:eve',
    type: 'event',
    event: { type: 'approval', actor: 'user:eve', result: 'ok' },
  });
  database
    .prepare(`INSERT INTO audit (ws, seq, at, hashes, entry) VALUES ((${OWN}), ?, ?, x'', ?)`)
    .run(at, START, entry);
  rehash(database);
}

function forgeWitness(database: DatabaseSync): void {
  database.exec(`UPDATE record SET body = replace(body, '"new"', '"old"') WHERE name = 'd'`);
  const { body } = database.prepare("SELECT body FROM record WHERE name = 'd'").get() as { body: string };
  const records = [{ kind: 'MeshPeer', name: 'd', revision: 13, digest: bodyDigest(body) }];
  const event = { type: 'audit.witnessed', actor: 'system:upgrade', result: 'ok', detail: { revision: 13, records } };
  const at = START + 24 * HOUR_MS;
  const entry = JSON.stringify({ at, workspace: WS, actor: 'system:upgrade', type: 'event', event });
  database.prepare(`INSERT INTO audit (ws, seq, at, hashes, entry) VALUES ((${OWN}), 14, ?, x'', ?)`).run(at, entry);
  rehash(database);
}

test('another byte is found wherever in a stored record it stands', () => {
  const database = new DatabaseSync(original, { readOnly: true });
  const rows = database.prepare('SELECT id, body FROM record WHERE body IS NOT NULL').all() as {
    id: number;
    body: string;
  }[];
  database.close();
  for (const { id, body } of rows) {
    for (let at = 0; at < body.length; at += 17) {
      const other = `${body.slice(0, at)}${body[at] === 'x' ? 'y' : 'x'}${body.slice(at + 1)}`;
      const file = tampered((edited) => edited.prepare('UPDATE record SET body = ? WHERE id = ?').run(other, id));
      expect(findingsIn(file)[0]).toMatch(/^record_changed/);
    }
  }
});

test('a database restored to yesterday is whole by itself, and is not what was seen of it', () => {
  const today = verifyDatabase(original, WS)[0] ?? expect.fail();
  const restored = verifyDatabase(yesterday, WS)[0] ?? expect.fail();
  expect(restored.findings).toEqual([]);
  const seen = { size: today.entries, root: today.root, at: today.at, by: 'This machine', leaves: today.leaves };
  expect(contradiction(restored.leaves, seen, restored.at)).toEqual({
    code: 'shortened',
    message:
      'This machine saw 14 entries on 2023-11-15T22:13:20.000Z; the log has 11, the newest of 2023-11-14T22:13:20.000Z: its end was cut, or an older database was restored. Entries 11 to 13 are gone.',
  });
});

test('a database that was restored and used since has another history from there on', async () => {
  const forked = path.join(path.dirname(tampered(() => undefined)), 'forked.db');
  copyFileSync(yesterday, forked);
  const store = await openSqliteStore({ path: forked, clock: testClock(START + 30 * HOUR_MS), log: silentLog });
  for (let n = 0; n < 5; n += 1) await store.commit(WS, [{ op: 'create', record: draft(`n${n}`) }], WHY);
  await store.close();
  const today = verifyDatabase(original, WS)[0] ?? expect.fail();
  const other = verifyDatabase(forked, WS)[0] ?? expect.fail();
  const seen = { size: today.entries, root: today.root, at: today.at, by: 'This machine', leaves: today.leaves };
  expect(contradiction(other.leaves, seen, other.at)).toMatchObject({
    code: 'forked',
    message: expect.stringContaining('from entry 11 on'),
  });
});

test('a history that was compacted verifies: only what is to be kept is missed', async () => {
  const file = tampered(() => undefined);
  const store = await openSqliteStore({ path: file, clock: testClock(START + 48 * HOUR_MS), log: silentLog });
  expect(await store.compact(WS, 8, [5])).toBeGreaterThan(0);
  await store.close();
  expect(findingsIn(file)).toEqual([]);
  const moved = new DatabaseSync(file);
  moved.exec('UPDATE workspace SET compacted = 9 WHERE compacted = 8');
  expect(findingsIn(file)).toEqual([
    expect.stringMatching(
      /^retention_changed: w_contract: the past is read from revision 9 on, and at \[5\]; .* before 8 but for 5/,
    ),
  ]);
  moved.exec("UPDATE workspace SET compacted = 8, keep = '[5,6]' WHERE compacted = 9");
  expect(findingsIn(file)).toEqual([expect.stringMatching(/^retention_changed: .* and at \[5,6\]/)]);
  moved.exec("UPDATE workspace SET keep = '[5]' WHERE compacted = 8");
  moved.close();
  expect(findingsIn(file)).toEqual([]);
  const database = new DatabaseSync(file);
  database.exec('DELETE FROM version WHERE revision <= 5');
  database.close();
  expect(findingsIn(file)[0]).toMatch(/^version_missing/);
});

test('what is no store of ours, or of an older version, is refused with what to do', () => {
  expect(() => verifyDatabase(path.join(folder, 'none.db'))).toThrow(/does not open for reading/);
  const old = tampered(sql('PRAGMA user_version = 1'));
  expect(() => verifyDatabase(old)).toThrow(/schema 1, of an older version: start this version of meshd on it once/);
  const newer = tampered(sql('PRAGMA user_version = 99'));
  expect(() => verifyDatabase(newer)).toThrow(/schema 99, newer than the \d+ this version knows/);
});

test.each(['audit_is_never_changed', 'audit_is_never_deleted'])('a file without its trigger %s is found', (name) => {
  const file = tampered(() => undefined);
  const database = new DatabaseSync(file);
  database.exec(`DROP TRIGGER ${name}`);
  database.close();
  const lacks = expect.stringMatching(`^damaged: The file lacks the trigger ${name}`);
  expect(findingsIn(file)).toEqual([lacks, lacks]);
});

test('a version that is gone is explained by an entry alone, not by what the row of the workspace says', () => {
  const file = tampered((database) => {
    database.exec("UPDATE workspace SET compacted = 8, keep = '[]'; DELETE FROM version WHERE until <= 8");
  });
  expect(findingsIn(file)[0]).toMatch(/^version_missing.*no entry says that it was dropped/);
});

test('a long entry whose text was taken out is found, although what is left is its leaf in the log', async () => {
  const file = tampered(() => undefined);
  const store = await openSqliteStore({ path: file, clock: testClock(START + 48 * HOUR_MS), log: silentLog });
  const detail = { records: Array.from({ length: 2_000 }, (_, n) => `a record that is witnessed, ${n}`) };
  await store.record(WS, [{ type: 'test.long', actor: 'system:test', result: 'ok', detail }]);
  await store.close();
  expect(findingsIn(file)).toEqual([]);
  withoutTriggers(file, (database) => {
    const { entry } = database.prepare(`SELECT entry FROM audit WHERE ${entryOf(14)}`).get() as { entry: string };
    database.prepare(`UPDATE audit SET entry = ? WHERE ${entryOf(14)}`).run(leafDataOf(entry));
  });
  expect(findingsIn(file)).toEqual([expect.stringMatching(/^entry_changed: .*Entry 14: its text is not the one/)]);
});

test('a retention that moved without dropping anything is in the log, and one of an earlier version need not be', async () => {
  const file = tampered(() => undefined);
  const store = await openSqliteStore({ path: file, clock: testClock(START + 48 * HOUR_MS), log: silentLog });
  expect(await store.compact(WS, 1, [])).toBe(0);
  expect(await store.compact(WS, 1, [])).toBe(0);
  expect((await store.audit(WS, { limit: 1 }))[0]?.event).toMatchObject({
    detail: { upTo: 1, keep: [], isMark: true },
  });
  await store.close();
  expect(findingsIn(file)).toEqual([]);
  // As an earlier version moved it: no version ends at revision 1, and those after it are not dropped.
  const moved = (compacted: number) =>
    findingsIn(tampered(sql(`UPDATE workspace SET compacted = ${compacted} WHERE name = '${WS}'`)));
  expect(moved(1)).toEqual([]);
  expect(moved(13)).toEqual([expect.stringMatching(/^retention_changed: .*from revision 13 on.* gave up nothing/)]);
});

/** Columns from which nothing of the past follows, and why. */
const FREE: Readonly<Record<string, string>> = {
  'checkpoint.at': 'when it was kept, for messages; what it says is signed',
  'checkpoint.day': 'one is kept a day; what it says is signed',
};

/** A column by which the rows of each table are told apart within a workspace. */
const KEYS: Readonly<Record<string, string>> = {
  workspace: 'name',
  record: 'id',
  version: 'until',
  unique_value: 'value',
  audit: 'seq',
  checkpoint: 'day',
};

/** Edits that nothing contradicts, and why. */
const UNSEEN: readonly RegExp[] = [
  // Before the first entry of retention: earlier versions wrote none where no version was superseded that early.
  /^UPDATE workspace SET compacted = compacted \+ 1 /,
];

const OF_ANY_COLUMN = ['NULL', '0', '9007199254740993', "'x'", "'null'", "'[null]'", "x'00'"];

test('each column of each row, changed to whatever the schema lets in, is found and ends nothing', () => {
  const database = new DatabaseSync(original, { readOnly: true });
  const all = (text: string) => database.prepare(text).all() as Record<string, string | number>[];
  const edits = all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").flatMap(
    // Who leads is no part of the past.
    ({ name: table = '' }) => (table === 'lease' ? [] : editsOf(`${table}`, all)),
  );
  database.close();
  const missed: string[] = [];
  let tried = 0;
  for (const [column, edit] of edits) {
    let isChanged = false;
    const file = tampered((edited) => {
      try {
        isChanged = edited.prepare(edit).run().changes !== 0;
      } catch {
        // The schema refuses it.
      }
    });
    if (!isChanged || column in FREE) continue;
    tried += 1;
    if (findingsIn(file).length === 0) missed.push(edit);
  }
  expect(missed).toEqual(UNSEEN.map((edit) => expect.stringMatching(edit)));
  expect(tried).toBeGreaterThan(100);
});

function editsOf(table: string, all: (text: string) => Record<string, string | number>[]): [string, string][] {
  const key = KEYS[table] ?? expect.fail(`The table ${table} has no key here.`);
  const own = table === 'workspace' ? `name = '${WS}'` : `ws = (${OWN})`;
  const rows = all(`SELECT DISTINCT ${key} AS key FROM ${table} WHERE ${own} ORDER BY 1`).map(
    ({ key: value = '' }) => `${own} AND ${key} = ${typeof value === 'string' ? `'${value}'` : value}`,
  );
  return [...new Set([rows[0], rows[1], rows.at(-1)])].flatMap((row) =>
    all(`PRAGMA table_info(${table})`).flatMap(({ name: column }) =>
      [...OF_ANY_COLUMN, `${column} + 1`, `${column} || 'x'`].map((value): [string, string] => [
        `${table}.${column}`,
        `UPDATE ${table} SET ${column} = ${value} WHERE ${row} AND ${column} IS NOT ${value}`,
      ]),
    ),
  );
}

test('the rows of a record that are taken out together, from any of its tables, are found; alone and for a whole kind', () => {
  const database = new DatabaseSync(original, { readOnly: true });
  const records = database.prepare(`SELECT id, kind, name FROM record WHERE ws = (${OWN})`).all();
  database.close();
  const tables = [
    ['record', 'id'],
    ['version', 'record'],
    ['unique_value', 'record'],
  ] as const;
  const sets = [1, 2, 3, 4, 5, 6, 7].map((bits) => tables.filter((_, at) => bits & (1 << at)));
  const kinds = new Map(records.map(({ kind }) => [`${kind}`, records.filter((one) => one['kind'] === kind)]));
  const groups = [...records.map((record) => [record]), ...kinds.values()];
  const missed: string[] = [];
  let tried = 0;
  for (const group of groups) {
    const ids = group.map(({ id }) => id).join();
    for (const set of sets) {
      let changed = 0n;
      const file = tampered((edited) => {
        for (const [table, column] of set)
          changed += BigInt(edited.prepare(`DELETE FROM ${table} WHERE ${column} IN (${ids})`).run().changes);
      });
      if (changed === 0n) continue;
      tried += 1;
      const what = `${set.map(([table]) => table).join('+')} of ${group.map(({ kind, name }) => `${kind} ${name}`).join()}`;
      if (findingsIn(file).length === 0) missed.push(what);
    }
  }
  expect(missed).toEqual([]);
  expect(tried).toBeGreaterThan(30);
});

test('the whole past of a deleted record that is taken out is found, and is not where retention dropped it', async () => {
  const remove = `DELETE FROM version WHERE record IN (SELECT id FROM record WHERE name = 'b'); DELETE FROM record WHERE name = 'b'`;
  expect(findingsIn(tampered(sql(remove)))).toEqual([
    expect.stringMatching(/^version_missing: w_contract: MeshPeer b as it was from revision 2 is gone, and no entry/),
  ]);
  const file = tampered(() => undefined);
  const store = await openSqliteStore({ path: file, clock: testClock(START + 48 * HOUR_MS), log: silentLog });
  await store.compact(WS, 8, []);
  await store.close();
  const database = new DatabaseSync(file);
  const rows = database.prepare("SELECT * FROM record WHERE name = 'b'").all();
  database.close();
  expect([rows, findingsIn(file)]).toEqual([[], []]);
});

test.each([
  ['a kind that there is none of, deleted', "UPDATE record SET kind = 'Nonesuch' WHERE body IS NULL AND name = 'b'"],
  [
    'a kind with the name of what every object has',
    "UPDATE record SET kind = 'constructor' WHERE body IS NULL AND name = 'b'",
  ],
  ['a table that is gone', 'DROP TABLE checkpoint'],
  ['the versions that are gone', 'DROP TABLE version'],
])('of a store with %s what is wrong is told', (_what, edit) => {
  expect(findingsIn(tampered(sql(edit)))).not.toEqual([]);
});
