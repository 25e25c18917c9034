import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { LogFile } from '../../client/control/log-file.ts';
import { type LogStatus, LogWitness } from '../../client/control/log-witness.ts';
import { type NodeConfig, writeNodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, register } from '../kits/http/joining.ts';
import { freshKey } from '../kits/plane/devices.ts';
import { mesh } from '../kits/process/run-command.ts';

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-witness-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A control plane on a directory that outlives it. */
async function openPlane() {
  const directory = freshFolder();
  const database = path.join(directory, 'mesh.db');
  let harness = await startHarness({ directory });
  const place = await harness.workspace();
  return {
    directory,
    database,
    place,
    get url() {
      return harness.url;
    },
    api: (method: string, route: string, body?: object) =>
      harness.api(method, route, { ...place, ...(body && { body }) }),
    async write(name: string) {
      const body = { name, spec: { action: 'DENY', peerSelector: {} } };
      expect((await harness.api('POST', '/api/v1/policies', { ...place, body })).status).toBe(201);
      // Signs what is new, as the job does each minute.
      return harness.api('GET', '/api/v1/audit/checkpoint', place);
    },
    /** A node that joins; each `look` is a new process of it, which is shown the checkpoint of its graph. */
    async join(name: string) {
      const { body } = await register(harness, await joinTokenFor(harness, place, { name }), name);
      const config: NodeConfig = {
        server: '',
        id: body.id,
        name,
        workspaceId: place.workspace,
        controlKey: body.controlKey,
        deviceToken: body.deviceToken,
        privateKey: freshKey().publicKey,
        signalingUrl: body.signalingUrl,
      };
      return nodeOf(() => harness.url, config);
    },
    stop: () => harness.stop(),
    async restart(options: { readonly acceptLoss?: boolean } = {}) {
      harness = await startHarness({ directory, ...options });
    },
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
}

function nodeOf(url: () => string, config: NodeConfig) {
  const directory = freshFolder();
  const file = new LogFile(directory);
  const errors: string[] = [];
  const log = { error: (_: object, text: string) => errors.push(text), warn() {}, info() {}, debug() {} };
  return {
    directory,
    file,
    errors,
    async look(): Promise<LogStatus> {
      const api = new PlaneApi(url(), config.deviceToken);
      const witness = new LogWitness({ ...config, file, api, clock: { now: Date.now }, log });
      const before = JSON.stringify(file.read());
      witness.saw((await api.graph()).checkpoint);
      await expect.poll(() => JSON.stringify(file.read()) !== before || witness.status.trouble !== '').toBe(true);
      await api.heartbeat(witness.report(true).content);
      await witness.stop();
      return witness.status;
    },
    /** `mesh audit verify` where nobody is signed in. */
    async verify(...args: string[]) {
      writeNodeConfig(directory, { ...config, server: url() });
      const ran = await mesh(['audit', 'verify', '--json', '--config-dir', directory, ...args], {
        home: freshFolder(),
      });
      return { code: ran.code, stderr: ran.stderr, ...(ran.stdout === '' ? {} : JSON.parse(ran.stdout).items[0]) };
    },
  };
}

/** What somebody does who has the disk, and knows what a control plane goes by. */
function removeWitnesses(directory: string): void {
  const database = new DatabaseSync(path.join(directory, 'mesh.db'));
  database.exec('DELETE FROM checkpoint');
  database.close();
  rmSync(path.join(directory, 'log-heads'), { recursive: true });
}

const sizeOf = ({ kept }: LogStatus) => kept && readCheckpoint(kept.note)?.size;

test('a node keeps the checkpoint of its graph, follows the log as it grows, and verifies the whole log by itself', async () => {
  await using plane = await openPlane();
  const first = await plane.write('a');
  const node = await plane.join('web-1');
  expect(sizeOf(await node.look())).toBeGreaterThanOrEqual(first.body.size);
  const second = await plane.write('b');
  const seen = await node.look();
  expect([sizeOf(seen), seen.refused, seen.trouble]).toEqual([second.body.size, undefined, '']);
  const told = await node.verify();
  expect(told).toMatchObject({ code: 0, verified: true, workspace: plane.place.workspace });
  expect(told.notes.join(' ')).toMatch(/Only hashes were read.*This node saw \d+ entries/);
  expect(node.errors).toEqual([]);
});

test('of two nodes that were shown different logs each keeps its own, and either names the fork of the other', async () => {
  await using plane = await openPlane();
  await plane.write('a');
  const [one, other] = [await plane.join('one'), await plane.join('other')];
  await plane.write('b');
  await plane.stop();
  const fork = path.join(freshFolder(), 'fork.db');
  copyFileSync(plane.database, fork);
  await plane.restart();
  await plane.write('one-history');
  const a = await one.look();
  await plane.stop();
  copyFileSync(fork, plane.database);
  removeWitnesses(plane.directory);
  await plane.restart();
  for (const name of ['another', 'and-more']) await plane.write(name);
  const b = await other.look();
  expect([a.refused, b.refused, a.kept?.note === b.kept?.note]).toEqual([undefined, undefined, false]);
  const note = path.join(freshFolder(), 'note-of-one.txt');
  writeFileSync(note, a.kept?.note ?? '');
  const compared = await other.verify('--checkpoint', note);
  expect(compared).toMatchObject({ code: 1, findings: [{ code: 'forked' }] });
  const shown = await one.look();
  expect([shown.kept?.note, shown.refused?.code]).toEqual([a.kept?.note, 'forked']);
  expect(one.errors.join()).toMatch(/contradicts what this node saw of it: This node saw \d+ entries .*two histories/);
});

test('a node tells that the database was restored to yesterday, the control plane has it as an event, and the network goes on', async () => {
  await using plane = await openPlane();
  const node = await plane.join('web-1');
  await plane.write('a');
  await plane.stop();
  const yesterday = path.join(freshFolder(), 'yesterday.db');
  copyFileSync(plane.database, yesterday);
  await plane.restart();
  const today = await plane.write('today');
  expect(sizeOf(await node.look())).toBe(today.body.size);
  await plane.stop();
  copyFileSync(yesterday, plane.database);
  await plane.restart({ acceptLoss: true });
  const seen = await node.look();
  // The entry that says what was given up made the log as long as it was.
  expect([sizeOf(seen), seen.refused?.code]).toEqual([today.body.size, 'forked']);
  expect(seen.refused?.message).toMatch(/two histories/);
  expect((await node.look()).refused?.code).toMatch(/^(shortened|forked)$/);
  const { body } = await plane.api('GET', '/api/v1/audit?type=event');
  const events = body.items.filter((each: { event: string }) => each.event === 'audit.contradicted');
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({
    actor: 'device:web-1',
    result: 'refused',
    detail: { code: 'forked', size: today.body.size },
  });
});

test('a node tells that the end of the log was cut behind a control plane that signs it', async () => {
  await using plane = await openPlane();
  const node = await plane.join('web-1');
  await plane.write('a');
  const last = await plane.write('b');
  await node.look();
  await plane.stop();
  removeWitnesses(plane.directory);
  const database = new DatabaseSync(plane.database);
  database.exec(`DROP TRIGGER audit_is_never_deleted; DELETE FROM audit WHERE seq >= ${last.body.size - 2}
    AND ws = (SELECT id FROM workspace WHERE name = '${plane.place.workspace}')`);
  database.close();
  await plane.restart();
  await plane.api('GET', '/api/v1/audit/checkpoint');
  const seen = await node.look();
  expect([sizeOf(seen), seen.refused?.code]).toEqual([last.body.size, 'shortened']);
  expect(await node.verify()).toMatchObject({
    code: 1,
    findings: [{ code: expect.stringMatching(/shortened|forked/) }],
  });
});

test('a node follows a key that was rotated, and refuses one that was put in its place', async () => {
  await using plane = await openPlane();
  const node = await plane.join('web-1');
  await plane.write('a');
  await node.look();
  await plane.stop();
  const rotate = ['audit', 'rotate-key', '--config-dir', plane.directory, '--json'];
  const { publicKey } = JSON.parse((await mesh(rotate, { home: freshFolder() })).stdout);
  await plane.restart();
  await plane.write('b');
  const followed = await node.look();
  expect([Buffer.from(followed.kept?.key ?? []).toString('base64'), followed.refused]).toEqual([publicKey, undefined]);
  await plane.stop();
  const credentials = path.join(plane.directory, 'credentials.json');
  const { logKeys: _, ...others } = JSON.parse(readFileSync(credentials, 'utf8'));
  writeFileSync(credentials, JSON.stringify(others));
  removeWitnesses(plane.directory);
  await plane.restart();
  await plane.write('c');
  const seen = await node.look();
  expect([seen.kept?.note, seen.refused?.code]).toEqual([followed.kept?.note, 'key_changed']);
  expect(seen.refused?.message).toContain(`not by ${publicKey} as before`);
});

test('what a node kept and is damaged is told, and moved away it begins anew', async () => {
  await using plane = await openPlane();
  const node = await plane.join('web-1');
  await plane.write('a');
  await node.look();
  writeFileSync(node.file.name, '{"origin":');
  const told = await node.verify();
  expect([told.code, told.stderr]).toEqual([2, expect.stringContaining('is damaged: move it away to begin anew')]);
  rmSync(node.file.name);
  expect((await node.look()).refused).toBeUndefined();
});
