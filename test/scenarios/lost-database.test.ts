import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { openStore } from '../../storage/open.ts';
import { apiOf, configure, freshWorkspace, login, startHarness } from '../kits/http/harness.ts';
import { freshDirectory, type Meshd, type MeshdOptions, startMeshd } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';

const POLICIES = 20;
const PAGE_BYTES = 4_096;

/** A control plane in a process of its own, with an administrator and a workspace to write to. */
async function openPlane(options: MeshdOptions = {}) {
  const directory = options.directory ?? freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  configure(directory);
  const meshd = startMeshd({ ...options, directory });
  onTestFinished(() => void meshd.child.kill('SIGKILL'));
  const api = apiOf(await meshd.ready());
  return { directory, meshd, api };
}

type Place = Awaited<ReturnType<typeof freshWorkspace>>;
type Plane = Awaited<ReturnType<typeof openPlane>>;

const writeTo = async ({ api }: Pick<Plane, 'api'>, place: Place, name: string) =>
  (await api('POST', '/api/v1/policies', { ...place, body: { name, spec: { action: 'DENY', peerSelector: {} } } }))
    .status;

/** Entries of a log that are known of apart from the database. */
function marked(directory: string, workspace: string): number {
  const head = path.join(directory, 'log-heads', workspace);
  return existsSync(head) ? (readCheckpoint(readFileSync(head, 'utf8'))?.size ?? 0) : 0;
}

const databaseIn = (directory: string) => path.join(directory, 'mesh.db');

function zero(file: string, from: number): void {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0, from, from + PAGE_BYTES));
}

/** What closing the last connection does: the log moves into the file. */
function fold(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}

/** Runs `meshd` to its end: it refuses to start, or does what it is told to. */
const meshd = (directory: string, ...args: string[]) =>
  run(launcher('meshd'), [...args, '--config-dir', directory], {
    env: { HOME: directory, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '', ...LOOPBACK },
    timeoutMs: 50_000,
  });

const LOOPBACK = {
  MESH_LISTEN: '127.0.0.1:0',
  MESH_BUS_LISTEN: '127.0.0.1:0',
  MESH_RELAY_LISTEN: '127.0.0.1:0',
  MESH_STUN_LISTEN: '127.0.0.1:0',
};

/** A directory as kill -9 left it, with all in the log of the database, and a copy of the database from before. */
let killed: { readonly directory: string; readonly older: string; readonly place: Place };

beforeAll(async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-killed-'));
  configure(directory);
  const running: Meshd = startMeshd({ directory });
  const api = apiOf(await running.ready());
  const place = await freshWorkspace(api);
  const older = path.join(directory, 'older.db');
  expect((await meshd(directory, 'backup', older)).code).toBe(0);
  for (let n = 0; n < POLICIES; n += 1) expect(await writeTo({ api }, place, `p${n}`)).toBe(201);
  await vi.waitUntil(() => marked(directory, place.workspace) > POLICIES, { timeout: 30_000 });
  running.child.kill('SIGKILL');
  await running.ended;
  killed = { directory, older, place };
  return () => rmSync(directory, { recursive: true, force: true });
});

function copyOfKilled(): string {
  const directory = freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  cpSync(killed.directory, directory, { recursive: true });
  return directory;
}

const shorter =
  /w_\w+: \d+ of \d+ entries are missing, those after 20\S+Z up to 20\S+Z|: \d+ of \d+ entries are missing, all of them up to 20\S+Z/;
const gone = /the file is (not there|empty); on 20\S+Z its logs had \d+ entries/;

test.each<[string, (file: string) => void, RegExp]>([
  ['the log of the database is gone', (file) => rmSync(`${file}-wal`), gone],
  [
    'half of the log of the database is gone',
    (file) => truncateSync(`${file}-wal`, readFileSync(`${file}-wal`).length / 2),
    shorter,
  ],
  [
    '4 KB in the middle of the log of the database are zero',
    (file) => zero(`${file}-wal`, Math.floor(readFileSync(`${file}-wal`).length / 2)),
    shorter,
  ],
  [
    'the database is gone and credentials.json is there',
    (file) => {
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`);
    },
    gone,
  ],
  [
    'the database is the one of before',
    (file) => {
      for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`);
      cpSync(killed.older, file);
    },
    shorter,
  ],
  [
    'the third page of the database is zero',
    (file) => {
      fold(file);
      zero(file, 2 * PAGE_BYTES);
    },
    /^meshd: the database \S+mesh\.db is damaged \(.+\), so nothing was started or changed\. Restore it from a backup: /,
  ],
  [
    'the database is cut to 300 bytes more than some pages',
    (file) => {
      fold(file);
      truncateSync(file, 20 * PAGE_BYTES + 300);
    },
    /^meshd: the database \S+mesh\.db (is damaged \(.+\)|does not open.*: .+), so nothing was started or changed\./,
  ],
  [
    'the head of the database is not that of one',
    (file) => {
      fold(file);
      writeFileSync(file, readFileSync(file).fill(0x5a, 0, PAGE_BYTES));
    },
    /^meshd: the database \S+mesh\.db .*file is not a database\S*, so nothing was started or changed\./,
  ],
])('where %s meshd does not start, says so of the database and changes nothing', async (_what, damage, message) => {
  const directory = copyOfKilled();
  const file = databaseIn(directory);
  damage(file);
  const before = existsSync(file) ? readFileSync(file) : undefined;
  const looked = await meshd(directory, 'doctor', '--json');
  const { code, stdout, stderr } = await meshd(directory, '--standalone');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(message);
  const said = JSON.parse(looked.stdout).items.find(({ check }: { check: string }) => check === 'database');
  expect([looked.code, said.detail]).toEqual([
    1,
    `No meshd starts here as it is: ${stderr.replace(/^meshd: /, '').trimEnd()}`,
  ]);
  expect(stderr).toMatch(/meshd restore/);
  expect(stderr).not.toMatch(/MESH_RELAY|cannot listen/);
  expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(before);
});

/** The copy from before, as one of the backups that a control plane makes by itself. */
function keepBackup(directory: string): string {
  const backup = path.join(directory, 'backups', 'mesh-20260102T030405Z.db');
  mkdirSync(path.dirname(backup), { recursive: true });
  cpSync(killed.older, backup);
  return backup;
}

const inOrder = (...lines: string[]) => expect.stringMatching(new RegExp(lines.join('.*\\n.*')));

test('a refusal tells what each choice costs, the cheapest first', async () => {
  const directory = copyOfKilled();
  const backup = keepBackup(directory);
  const file = databaseIn(directory);
  // The last of it may be a checkpoint alone, which is no entry.
  truncateSync(`${file}-wal`, Math.floor(readFileSync(`${file}-wal`).length * 0.9));
  const short = await meshd(directory, '--standalone');
  expect(short.stderr).toEqual(
    inOrder(
      'what costs least first:',
      '  give up \\d+ entr(y|ies) for good:  \\S*meshd --standalone --accept-loss',
      `  restore what was there on 20\\S+Z, which gives up \\d+ entries, \\d+ more than the database lacks:  \\S*meshd restore ${backup} `,
    ),
  );
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  const none = await meshd(directory, '--standalone');
  expect(none.stderr).toEqual(
    inOrder(
      'what costs least first:',
      `  restore what was there on 20\\S+Z, which gives up \\d+ entries:  \\S*meshd restore ${backup} `,
      '  give up \\d+ entries for good:  ',
    ),
  );
});

test('of a damaged database the copy that can be restored is named, by a start and by meshd doctor', async () => {
  const directory = copyOfKilled();
  const backup = keepBackup(directory);
  writeFileSync(path.join(directory, 'backups', 'mesh-20260203T040506Z.db'), 'no database');
  const file = databaseIn(directory);
  fold(file);
  truncateSync(file, 20 * PAGE_BYTES);
  const advice = new RegExp(
    `Restore what was there on 20\\S+Z, which gives up \\d+ entries: \\S*meshd restore ${backup} `,
  );
  expect((await meshd(directory, '--standalone')).stderr).toMatch(advice);
  expect((await meshd(directory, 'doctor')).stdout).toMatch(advice);
});

test.each([
  [
    'is damaged',
    (file: string) => writeFileSync(file, '{'),
    /credentials\.json is damaged: put a copy of it in its place\./,
  ],
  ['is not there', (file: string) => rmSync(file), /credentials\.json is not there, and the database/],
])('where credentials.json %s meshd doctor says what the start says', async (_what, harm, message) => {
  const directory = copyOfKilled();
  harm(path.join(directory, 'credentials.json'));
  const { code, stderr } = await meshd(directory, '--standalone');
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  const looked = await meshd(directory, 'doctor');
  expect([looked.code, looked.stdout]).toEqual([1, expect.stringContaining(stderr.replace(/^meshd: /, '').trimEnd())]);
});

const headOf = (directory: string, workspace: string) => path.join(directory, 'log-heads', workspace);

test.each<[string, (head: string) => void, RegExp]>([
  ['is empty', (head) => truncateSync(head, 0), /is empty, cut short or damaged/],
  ['is cut to 40 bytes', (head) => truncateSync(head, 40), /is empty, cut short or damaged/],
  [
    'is signed by another key',
    (head) => writeFileSync(head, readFileSync(head, 'utf8').replace(/(\S{8})\n$/, 'AAAAAAA=\n')),
    /is signed by no key that credentials\.json has/,
  ],
  ['is deleted', (head) => rmSync(head), /is not there, although the log was signed before/],
])('an older database beside a head that %s is refused, and the head is named', async (_what, damage, message) => {
  const directory = copyOfKilled();
  const file = databaseIn(directory);
  for (const end of ['-wal', '-shm']) rmSync(`${file}${end}`);
  cpSync(killed.older, file);
  for (const workspace of readdirSync(path.join(directory, 'log-heads'))) damage(headOf(directory, workspace));
  const { code, stdout, stderr } = await meshd(directory, '--standalone');
  expect([code, stdout]).toEqual([1, '']);
  // The copy of before may hold no checkpoint yet of what was begun a moment ago.
  expect(stderr).toMatch(/log-heads\/w_\w+/);
  expect(stderr).toMatch(message);
  expect(stderr).toMatch(/meshd restore [\s\S]+--accept-loss/);
});

test('a head that is gone is given up by --accept-loss, and the next start needs no flag', async () => {
  const directory = copyOfKilled();
  for (const workspace of readdirSync(path.join(directory, 'log-heads'))) rmSync(headOf(directory, workspace));
  await expect(startHarness({ directory })).rejects.toThrow(/log-heads\/w_\w+ is not there/);
  await using harness = await startHarness({ directory, acceptLoss: true });
  await harness.stop();
  await using again = await startHarness({ directory });
  expect((await again.api('GET', '/readyz')).body).not.toHaveProperty('degraded');
});

test('where database and credentials.json are gone and the heads are not, no new installation takes their place', async () => {
  const directory = copyOfKilled();
  for (const end of ['', '-wal', '-shm']) rmSync(`${databaseIn(directory)}${end}`);
  rmSync(path.join(directory, 'credentials.json'));
  const before = readdirSync(directory);
  const { code, stdout, stderr } = await meshd(directory, '--standalone');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/credentials\.json is not there, although log-heads .* on 20\S+Z its logs had \d+ entries/);
  expect(stderr).toMatch(
    /Put both back .*, set MESH_STORE_URL and MESH_KEYS_FILE if this is one of several .*\n.*meshd restore FILE .*\n.*--accept-loss/,
  );
  expect(readdirSync(directory).filter((name) => !before.includes(name) && /db|cred/.test(name))).toEqual([]);
  await using harness = await startHarness({ directory, acceptLoss: true });
  await harness.stop();
  await using again = await startHarness({ directory });
  expect((await again.api('GET', '/readyz')).body).not.toHaveProperty('degraded');
});

test('what is missing is given up once by --accept-loss, which the log tells, and the next start needs no flag', {
  timeout: 120_000,
}, async () => {
  const directory = copyOfKilled();
  truncateSync(`${databaseIn(directory)}-wal`, readFileSync(`${databaseIn(directory)}-wal`).length / 2);
  const first = await openPlane({ directory, command: [launcher('meshd'), '--standalone', '--accept-loss'] });
  const token = await login(first.api);
  const { body } = await first.api('GET', '/api/v1/audit?type=event', { token, workspace: killed.place.workspace });
  const entry = body.items.find((each: { event: string }) => each.event === 'audit.accepted');
  expect(entry.detail.reason).toBe('meshd --accept-loss');
  expect(entry.detail.given[0]).toMatch(/its end is missing/);
  expect(await first.meshd.stop()).toBe(0);
  const second = await openPlane({ directory });
  expect(await writeTo(second, { ...killed.place, token }, 'again')).toBe(201);
});

test('where credentials.json is gone and the database is not, no keys are made in their place unless they are given up', async () => {
  const directory = copyOfKilled();
  rmSync(path.join(directory, 'credentials.json'));
  const refused = await meshd(directory, '--standalone');
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(
    /credentials\.json is not there, and the database \S+ was written with the keys in it/,
  );
  expect(refused.stderr).toMatch(/meshd restore FILE .*\n.*every node has to join again: +meshd .*--accept-loss/);
  expect(existsSync(path.join(directory, 'credentials.json'))).toBe(false);
  await using harness = await startHarness({ directory, acceptLoss: true });
  const token = await harness.login();
  const { body } = await harness.api('GET', '/api/v1/policies?limit=200', { token, workspace: killed.place.workspace });
  expect(body.items).toHaveLength(POLICIES);
  const asked = { token, workspace: killed.place.workspace };
  const [entry] = (await harness.api('GET', '/api/v1/audit?type=event', asked)).body.items;
  expect(entry).toMatchObject({ event: 'audit.accepted', detail: { reason: 'meshd --accept-loss' } });
  expect((await harness.api('GET', '/api/v1/audit/checkpoint', asked)).status).toBe(200);
});

test('a first start that was cut off before it had keys is no loss: the next one makes them', async () => {
  const directory = freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const store = await openStore(`sqlite:${databaseIn(directory)}`, { clock: { now: Date.now }, log: silentLog });
  await store.close();
  await using harness = await startHarness({ directory });
  expect((await harness.api('GET', '/readyz')).status).toBe(200);
});

test('a start with --accept-loss where nothing is missing is refused, or what is lost next would be given up', async () => {
  const { code, stderr } = await meshd(copyOfKilled(), '--standalone', '--accept-loss');
  expect([code, stderr]).toEqual([1, expect.stringMatching(/nothing is missing, .*take --accept-loss out/)]);
});

test('where the whole database is given up, the log of the installation says which logs there were', async () => {
  const directory = copyOfKilled();
  for (const end of ['', '-wal', '-shm']) rmSync(`${databaseIn(directory)}${end}`);
  await using harness = await startHarness({ directory, acceptLoss: true });
  const entries = await harness.plane.services.store.audit(SYSTEM_WORKSPACE, { limit: 50 });
  const given = entries.flatMap(({ event }) => (event?.type === 'audit.accepted' ? [event.detail?.['given']] : []));
  expect(given.flat().join()).toMatch(new RegExp(`all of the log of ${killed.place.workspace}, which is gone`));
  await harness.stop();
  await using again = await startHarness({ directory });
  expect((await again.api('GET', '/readyz')).status).toBe(200);
});

test('a store of an older version, without what is kept apart from it, starts without a flag', async () => {
  const directory = copyOfKilled();
  rmSync(path.join(directory, 'log-heads'), { recursive: true });
  const { meshd: running } = await openPlane({ directory });
  await expect
    .poll(() => existsSync(path.join(directory, 'log-heads', killed.place.workspace)), { timeout: 30_000 })
    .toBe(true);
  expect(await running.stop()).toBe(0);
});

test('once mesh.db is removed under a running meshd no write is acknowledged, and what was is restored from the copy', {
  timeout: 180_000,
}, async () => {
  const plane = await openPlane();
  const { directory, api } = plane;
  const place = await freshWorkspace(api);
  expect(await writeTo(plane, place, 'before')).toBe(201);
  for (const name of readdirSync(directory).filter((each) => each.startsWith('mesh.db'))) {
    rmSync(path.join(directory, name));
  }
  expect(await writeTo(plane, place, 'after')).toBe(503);
  const told = await api('POST', '/api/v1/policies', {
    ...place,
    body: { name: 'again', spec: { action: 'DENY', peerSelector: {} } },
  });
  expect(told.body.detail).toMatch(/is gone, .+ trying again does not help: the operator has to look/);
  expect(JSON.stringify(told.body)).not.toContain(directory);
  expect((await api('GET', '/readyz')).status).toBe(503);
  const rescued = `${databaseIn(directory)}.rescued`;
  await expect.poll(() => existsSync(rescued), { timeout: 30_000 }).toBe(true);
  await plane.meshd.stop();
  expect(plane.meshd.stderr()).toMatch(/mesh\.db was removed or replaced while meshd had it open/);
  const refused = await meshd(directory, '--standalone');
  expect(refused.stderr).toMatch(gone);
  expect(refused.stderr).toContain(`meshd restore ${rescued}`);
  expect((await meshd(directory, 'restore', rescued)).code).toBe(0);
  expect((await meshd(directory, 'doctor')).stdout).toMatch(
    /ok +files +\S+mesh\.db\.rescued \(\d+ bytes, of 20\S+Z\) is an older copy of the database: /,
  );
  const again = await openPlane({ directory });
  const { body } = await again.api('GET', '/api/v1/policies', place);
  expect(body.items.map(({ name }: { name: string }) => name)).toEqual(['before']);
});
