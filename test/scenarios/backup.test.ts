import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { storeFiles } from '../../bin/compose/store-files.ts';
import { ControlLink } from '../../client/control/control-link.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { apiOf, configure, freshWorkspace, type Harness, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, register } from '../kits/http/joining.ts';
import { startMeshd } from '../kits/process/meshd.ts';
import { launcher, mesh, run } from '../kits/process/run-command.ts';
import { freePort } from '../kits/servers/free-port.ts';

const WRITERS = 8;
/** Several control planes start one after the other. */
const PATIENCE_MS = 180_000;
/** Nodes come back at intervals of their own. */
const FOLLOWED_MS = 60_000;

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const meshd = (directory: string, ...args: string[]) =>
  run(launcher('meshd'), [...args, '--config-dir', directory], { env: { HOME: directory } });

const policyNames = (file: string) => {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare(`SELECT name FROM record WHERE kind = 'MeshPolicy' AND body IS NOT NULL`).all();
  database.close();
  return rows.map((row) => String(row['name']));
};

test('a backup that is taken under writes holds all that was acknowledged before, verifies, and has the keys by choice alone', {
  timeout: PATIENCE_MS,
}, async () => {
  const [directory, home] = [freshFolder(), freshFolder()];
  configure(directory);
  const running = startMeshd({ directory });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const api = apiOf(await running.ready());
  const place = await freshWorkspace(api);
  const acknowledged: string[] = [];
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0; !isOver; n += 1) {
      const body = { name: `w${writer}-${n}`, spec: { action: 'DENY', peerSelector: {} } };
      const { status } = await api('POST', '/api/v1/policies', { ...place, body });
      expect([201, 429]).toContain(status);
      if (status === 201) acknowledged.push(body.name);
    }
  });
  await expect.poll(() => acknowledged.length, { timeout: FOLLOWED_MS }).toBeGreaterThan(WRITERS);
  const before = [...acknowledged];
  const file = path.join(home, 'plain.db');
  const plain = await meshd(directory, 'backup', file);
  isOver = true;
  await Promise.all(writers);
  expect([plain.code, plain.stderr]).toEqual([0, '']);
  expect(plain.stdout).toMatch(/read back\.\nIt holds no keys/);
  expect(policyNames(file)).toEqual(expect.arrayContaining(before));
  expect(acknowledged).toEqual(expect.arrayContaining(policyNames(file)));
  const verified = await mesh(['audit', 'verify', '--database', file, '--json'], { home });
  expect(JSON.parse(verified.stdout)).toMatchObject({ verified: true });
  expect([statSync(file).mode & 0o777, readFileSync(file).includes('PRIVATE KEY')]).toEqual([0o600, false]);
  const whole = path.join(home, 'whole.db');
  expect((await meshd(directory, 'backup', whole, '--with-credentials')).stdout).toContain('It holds the keys');
  expect(readFileSync(whole).includes('PRIVATE KEY')).toBe(true);

  expect(await running.stop()).toBe(0);
  const elsewhere = freshFolder();
  const restored = await meshd(elsewhere, 'restore', whole);
  expect(restored.stdout).toContain('credentials.json came with it.');
  const keys = (where: string) => JSON.parse(readFileSync(path.join(where, 'credentials.json'), 'utf8'));
  expect(keys(elsewhere)).toEqual(keys(directory));
  expect(readFileSync(path.join(elsewhere, 'mesh.db')).includes('PRIVATE KEY')).toBe(false);
  const again = startMeshd({ directory: elsewhere });
  onTestFinished(() => void again.child.kill('SIGKILL'));
  const there = apiOf(await again.ready());
  // The session is good there too: it is the same installation.
  expect((await there('GET', `/api/v1/policies/${before[0]}`, place)).status).toBe(200);
});

/** The control part of a node that has joined, and the graphs that it was given. */
async function nodeOf(harness: Harness, place: Place, name: string, signalingUrl: string) {
  const pair = generateKeyPair();
  const publicKey = Buffer.from(pair.publicKey).toString('base64');
  const { body } = await register(harness, await joinTokenFor(harness, place), name, { publicKey });
  const graphs: FullGraph[] = [];
  const link = new ControlLink({
    config: {
      server: harness.url,
      id: body.id,
      name,
      workspaceId: place.workspace,
      controlKey: body.controlKey,
      deviceToken: body.deviceToken,
      privateKey: Buffer.from(pair.privateKey).toString('base64'),
      signalingUrl,
    },
    version: '0.1.0',
    file: { read: () => undefined, write: () => {}, forget: () => {} },
    logFile: { read: () => undefined, write: () => {} },
    busWaitMs: 2_000,
    clock: { now: Date.now },
    log: silentLog,
    saveConfig: () => {},
    onGraph: (graph) => graphs.push(graph),
    onStanding: () => {},
    onSignal: () => {},
    onBus: () => {},
  });
  onTestFinished(() => link.stop());
  await link.start();
  return {
    newest: () => ({
      epoch: graphs.at(-1)?.epoch,
      peers: graphs
        .at(-1)
        ?.peers.map((peer) => peer.name)
        .sort(),
    }),
  };
}

test('the drill: a network whose database is lost is restored from a backup, and its nodes follow without a hand', {
  timeout: PATIENCE_MS,
}, async () => {
  const bus = `127.0.0.1:${await freePort()}`;
  const env = {
    MESH_LISTEN: `127.0.0.1:${await freePort()}`,
    MESH_BUS_LISTEN: bus,
    MESH_SIGNALING_URL: `nats://${bus}`,
  };
  const directory = freshFolder();
  const first = await startHarness({ directory, env });
  onTestFinished(() => first.stop());
  const place = await first.workspace();
  const node = await nodeOf(first, place, 'a', env.MESH_SIGNALING_URL);
  await nodeOf(first, place, 'b', env.MESH_SIGNALING_URL);
  await expect.poll(() => node.newest().peers, { timeout: FOLLOWED_MS }).toEqual(['b']);
  const file = path.join(freshFolder(), 'before.db');
  await storeFiles.backup({ configDir: directory, file, withCredentials: false });
  await nodeOf(first, place, 'c', env.MESH_SIGNALING_URL);
  await expect.poll(() => node.newest().peers, { timeout: FOLLOWED_MS }).toEqual(['b', 'c']);
  const { epoch } = node.newest();
  await first.stop();

  rmSync(path.join(directory, 'mesh.db'));
  await expect(startHarness({ directory, env })).rejects.toThrow(/the file is not there/);
  const told = await storeFiles.restore({ configDir: directory, file });
  expect(told).toMatch(/w_\w+: the last \d+ of \d+ entries, up to 20\S+, are not in it/);
  expect(await storeFiles.compact({ configDir: directory })).toMatch(/had \d+ bytes and has \d+\./);
  const second = await startHarness({ directory, env });
  onTestFinished(() => second.stop());
  await expect.poll(() => node.newest().peers, { timeout: FOLLOWED_MS }).toEqual(['b']);
  expect(node.newest().epoch).not.toBe(epoch);
  const { body } = await second.api('GET', '/api/v1/audit?type=event', place);
  const entry = body.items.find((each: { event: string }) => each.event === 'audit.accepted');
  expect(entry.detail.reason).toMatch(/^meshd restore before\.db, of 20/);
  expect((await second.api('GET', '/api/v1/audit/checkpoint', place)).status).toBe(200);
});

test('beside a meshd whose lock file was deleted a restore is refused and leaves nothing, and doctor sees that it runs', async () => {
  const directory = freshFolder();
  const file = path.join(freshFolder(), 'one.db');
  const running = startMeshd({ directory });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const listen = new URL(await running.ready()).host;
  expect((await meshd(directory, 'backup', file)).code).toBe(0);
  for (const name of ['lock', 'lock-journal']) rmSync(path.join(directory, name), { force: true });
  const pid = () => readFileSync(path.join(directory, 'meshd.pid'), 'utf8').trim();
  const before = pid();
  const refused = await meshd(directory, 'restore', file);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/mesh\.db is in use: another meshd/)]);
  expect([pid(), readdirSync(directory).filter((name) => name.endsWith('.new'))]).toEqual([before, []]);
  const off = { MESH_BUS_LISTEN: 'off', MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' };
  const env = { HOME: directory, MESH_LISTEN: listen, ...off };
  const looked = await run(launcher('meshd'), ['doctor', '--config-dir', directory], { env });
  expect(looked.stdout).toContain('takes connections');
  expect([pid(), looked.code]).toEqual([before, 0]);
});

test('meshd --help names what works on the database', async () => {
  const { stdout } = await meshd(freshFolder(), '--help');
  for (const name of ['--accept-loss', 'backup [options] <file>', 'restore <file>', 'compact']) {
    expect(stdout).toContain(name);
  }
});

test('a file that is no backup, and a backup of another installation, are not restored', async () => {
  const directory = freshFolder();
  await using harness = await startHarness({ directory });
  const file = path.join(freshFolder(), 'one.db');
  await storeFiles.backup({ configDir: directory, file, withCredentials: true });
  const other = freshFolder();
  await using second = await startHarness({ directory: other });
  await expect(storeFiles.restore({ configDir: other, file })).rejects.toThrow(/in use by another meshd/);
  await second.stop();
  await expect(storeFiles.restore({ configDir: other, file })).rejects.toThrow(/is of another installation than/);
  await expect(storeFiles.restore({ configDir: other, file: path.join(other, 'credentials.json') })).rejects.toThrow(
    /cannot be restored: the database \S+credentials\.json is damaged/,
  );
  for (const work of [storeFiles.backup, storeFiles.restore]) {
    const own = { configDir: other, file: path.join(other, 'mesh.db'), withCredentials: false };
    await expect(work(own)).rejects.toThrow(/is the database itself: name another file/);
  }
  expect((await harness.api('GET', '/readyz')).status).toBe(200);
});

/** The directory of a control plane that ran, and a backup of it. */
async function ranIn(directory = freshFolder()) {
  const harness = await startHarness({ directory });
  const { workspace } = await harness.workspace();
  const head = path.join(directory, 'log-heads', workspace);
  await expect.poll(() => existsSync(head), { timeout: FOLLOWED_MS }).toBe(true);
  const file = path.join(freshFolder(), 'one.db');
  await storeFiles.backup({ configDir: directory, file, withCredentials: false });
  await harness.stop();
  return { directory, file, database: path.join(directory, 'mesh.db') };
}

test('a plain copy of the database of another installation is not restored, and one of its own is', async () => {
  const [one, other] = [await ranIn(), await ranIn()];
  const [own, foreign] = [path.join(freshFolder(), 'own.db'), path.join(freshFolder(), 'foreign.db')];
  copyFileSync(one.database, own);
  copyFileSync(other.database, foreign);
  const before = readFileSync(one.database);
  await expect(storeFiles.restore({ configDir: one.directory, file: foreign })).rejects.toThrow(
    /is of another installation than/,
  );
  expect(readFileSync(one.database)).toEqual(before);
  expect(await storeFiles.restore({ configDir: one.directory, file: own })).toMatch(/is the database of/);
});

test('a restore keeps the log of a database that is gone', async () => {
  const { directory, file, database } = await ranIn();
  rmSync(database);
  writeFileSync(`${database}-wal`, 'acknowledged');
  const told = await storeFiles.restore({ configDir: directory, file });
  const [, aside = ''] = /What was there before is kept as (\S+)\./.exec(told) ?? [];
  expect([path.basename(aside), readFileSync(aside, 'utf8')]).toEqual([
    expect.stringMatching(/^mesh\.db\.before-restore-\w+-wal$/),
    'acknowledged',
  ]);
});

test.each([true, false])(
  'a restore goes where a link to the database leads, whether one is there (%s) or not',
  async (isThere) => {
    const { directory, file, database } = await ranIn();
    const volume = freshFolder();
    const behind = path.join(volume, 'data.db');
    renameSync(database, behind);
    symlinkSync(behind, database);
    if (!isThere) rmSync(behind);
    await storeFiles.restore({ configDir: directory, file });
    expect([lstatSync(database).isSymbolicLink(), statSync(behind).isFile()]).toEqual([true, true]);
    const beside = readdirSync(volume).filter((name) => name.includes('.before-restore-'));
    expect(beside).toHaveLength(isThere ? 1 : 0);
    await using harness = await startHarness({ directory });
    expect((await harness.api('GET', '/readyz')).status).toBe(200);
  },
);

test('a backup takes the place of an older backup, and of nothing that the installation or anybody else needs', async () => {
  const { directory, file } = await ranIn();
  await using harness = await startHarness({ directory });
  const to = (name: string) => storeFiles.backup({ configDir: directory, file: name, withCredentials: false });
  for (const name of ['mesh.db', 'mesh.db-wal', 'mesh.db-shm']) {
    await expect(to(path.join(directory, name))).rejects.toThrow(/itself: name another file/);
    const link = path.join(freshFolder(), 'link');
    symlinkSync(path.join(directory, name), link);
    await expect(to(link)).rejects.toThrow(/itself: name another file/);
  }
  const note = path.join(freshFolder(), 'note');
  writeFileSync(note, 'mine');
  for (const name of [note, path.join(directory, 'credentials.json'), path.join(directory, 'lock')]) {
    await expect(to(name)).rejects.toThrow(/is no backup/);
  }
  expect(readFileSync(note, 'utf8')).toBe('mine');
  expect(await to(file)).toMatch(/read back/);
  expect((await harness.api('GET', '/readyz')).status).toBe(200);
});
