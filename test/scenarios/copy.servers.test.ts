import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { draft, WHY } from '../../storage/contract/kit.ts';
import { makeKeysFile } from '../../storage/credentials.ts';
import { openStore } from '../../storage/open.ts';
import { apiOf, configure, freshWorkspace } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { COMPILE_CACHE, launcher, run } from '../kits/process/run-command.ts';
import { type Databases, hasMongod, startLoneServer } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

/** So many that a copy is not over when it is seen to have begun. */
const ENTRIES = 3_000;
const DATABASE = 'mesh';
/** Nothing but how far it is, which is told every two seconds. */
const PROGRESS = /^(?:(?:copied|read back and compared): .*\n)*$/;

describe.skipIf(!hasMongod)('an installation that moves to a replica set and back', () => {
  const directory = freshDirectory();
  const file = path.join(directory, 'mesh.db');
  let servers: Databases;
  let served: { MESH_STORE_URL: string };
  let place: { token: string; workspace: string };
  beforeAll(async () => {
    servers = await shareReplicaSet();
    served = { MESH_STORE_URL: servers.url(DATABASE) };
    configure(directory);
    const meshd = startMeshd({ directory });
    const api = apiOf(await meshd.ready());
    place = await freshWorkspace(api);
    const body = { name: 'closed', spec: { action: 'DENY', peerSelector: {} } };
    expect((await api('POST', '/api/v1/policies', { ...place, body })).status).toBe(201);
    expect((await command({}, 'copy', '--to', served.MESH_STORE_URL)).stderr).toMatch(/in use by another meshd/);
    await meshd.stop();
    const store = await openStore(file, { clock: Date, log: silentLog });
    const bulk = (n: number) =>
      store.commit('w_bulk', [{ op: 'create', record: draft(`n-${n}`, { kind: 'Presence', uid: `n_${n}` }) }], WHY);
    await Promise.all(Array.from({ length: ENTRIES }, (_, n) => bulk(n)));
    await store.close();
  });
  afterAll(async () => {
    await servers.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const args = (...given: string[]) => [...given, '--config-dir', directory];
  const command = (env: Readonly<Record<string, string>>, ...given: string[]) =>
    run(launcher('meshd'), args(...given), { env });

  function start(env: Readonly<Record<string, string>>, ...more: string[]) {
    const meshd = startMeshd({ directory, env, command: [launcher('meshd'), ...more] });
    onTestFinished(async () => {
      await meshd.stop();
    });
    return meshd;
  }

  /** Starts, makes a policy and stops. @returns those that were there, by a session of before every move */
  async function policiesOn(meshd: ReturnType<typeof start>, made: string): Promise<string> {
    const api = apiOf(await meshd.ready());
    const { body: there } = await api('GET', '/api/v1/policies', place);
    const body = { name: made, spec: { action: 'DENY', peerSelector: {} } };
    expect((await api('POST', '/api/v1/policies', { ...place, body })).status).toBe(201);
    await meshd.stop();
    return JSON.stringify(there);
  }

  test('a server that is in no replica set is named as it was given, and nothing moves', async () => {
    const lone = await startLoneServer();
    onTestFinished(() => lone.stop());
    const { code, stderr } = await command({}, 'copy', '--to', lone.url);
    const place = new URL(lone.url).host;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`the MongoDB server at ${place} is no member of a replica`),
    ]);
    expect(stderr).not.toContain('MESH_STORE_URL');
    expect((await command({}, 'copy', '--cancel')).stdout).toContain('nothing was to be done');
  });

  test('killed in the middle, no meshd starts on what is there, and the old store is as it was', async () => {
    const env = { PATH: process.env['PATH'], ...COMPILE_CACHE };
    const child = spawn(launcher('meshd'), args('copy', '--to', served.MESH_STORE_URL), {
      env,
      stdio: 'ignore',
      detached: true,
    });
    const log = servers.db(DATABASE).collection('log');
    await expect.poll(() => log.countDocuments(), { interval: 5 }).toBeGreaterThan(0);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await once(child, 'exit');
    const refused = start(served, '--standalone');
    expect(await refused.ended).toBe(1);
    expect(refused.stderr()).toContain(`is a copy of sqlite:${file} that was begun on`);
    const doctor = await command(served, 'doctor');
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining('run the same meshd copy again')]);
    expect(await policiesOn(start({}, '--standalone'), 'second')).toContain('closed');
  });

  test('copied again, it goes on there with its sessions and keys, and the old store says where it went', async () => {
    const copied = await command({}, 'copy', '--to', served.MESH_STORE_URL);
    expect([copied.code, copied.stdout]).toEqual([
      0,
      expect.stringMatching(/\d{4} entries of the logs.*\n(.*\n)*.*SHA-256/),
    ]);
    expect(await policiesOn(start(served, '--standalone'), 'third')).toContain('second');
    const doctor = await command(served, 'doctor');
    expect(doctor.stdout).toContain('with all indexes and all that this installation is known to have had');
    const refused = start({}, '--standalone');
    expect(await refused.ended).toBe(1);
    expect(refused.stderr()).toContain(`the database ${file} was moved to mongodb://127.0.0.1:`);
  });

  test('a database that was set back is told by meshd doctor too, and is not moved', async () => {
    const database = servers.db(DATABASE);
    const [lost] = await database.collection('log').find({ '_id.ws': place.workspace }).sort({ _id: -1 }).toArray();
    const head = await database.collection('workspace').findOne({ _id: place.workspace as never });
    await database.collection('workspace').updateOne({ _id: place.workspace as never }, { $inc: { size: -1 } });
    const doctor = await command(served, 'doctor');
    expect(doctor.stdout).toMatch(/^failed +database +No meshd starts here as it is: .*has less than/m);
    const copied = await command(served, 'copy', '--to', `sqlite:${file}`);
    expect([copied.code, copied.stderr]).toEqual([1, expect.stringMatching(/1 of \d+ entries are missing/)]);
    await database.collection('workspace').replaceOne({ _id: place.workspace as never }, head ?? {});
    expect(lost).toBeDefined();
  });

  test('several control planes go on there with a copy of its keys, and with no others', async () => {
    const second = freshDirectory();
    onTestFinished(() => rmSync(second, { recursive: true, force: true }));
    const [keys, others] = [path.join(second, 'keys.json'), path.join(second, 'others.json')];
    copyFileSync(path.join(directory, 'credentials.json'), keys);
    makeKeysFile(others);
    const env = { ...served, MESH_KEYS_FILE: keys, MESH_BUS_LISTEN: 'off' };
    const startSecond = (more: Readonly<Record<string, string>> = {}) => {
      const meshd = startMeshd({ directory: second, env: { ...env, ...more }, command: [launcher('meshd')] });
      onTestFinished(async () => {
        await meshd.stop();
      });
      return meshd;
    };
    const refused = startSecond({ MESH_KEYS_FILE: others });
    expect(await refused.ended).toBe(1);
    expect(refused.stderr()).toContain(`${others} has other keys`);
    const doctor = (file: string) => command({ ...env, MESH_KEYS_FILE: file }, 'doctor');
    expect((await doctor(others)).stdout).toContain(`${others} has other keys`);
    expect((await doctor(keys)).stdout).toContain('with all indexes');
    const meshd = startSecond();
    const api = apiOf(await meshd.ready());
    // A log that the first one has never signed, and whose head stands in the other directory.
    const elsewhere = await freshWorkspace(api, 'elsewhere');
    expect((await api('GET', '/api/v1/audit/checkpoint', elsewhere)).status).toBe(200);
    const copied = await command(env, 'copy', '--to', `sqlite:${file}`);
    expect([copied.code, copied.stderr]).toEqual([
      1,
      expect.stringMatching(/has the lease .*: end every one of them first/),
    ]);
    await meshd.stop();
  });

  test('moved back it goes on in the file, and nothing more is written to the servers', async () => {
    const copied = await command(served, 'copy', '--to', `sqlite:${file}`);
    expect([copied.code, copied.stderr]).toEqual([0, expect.stringMatching(PROGRESS)]);
    expect(copied.stdout).toContain(`What was at the place of sqlite:${file} is kept as ${file}.before-copy-`);
    const refused = start(served, '--standalone');
    expect(await refused.ended).toBe(1);
    expect(refused.stderr()).toContain(`was moved to sqlite:${file}`);
    expect(await policiesOn(start({}, '--standalone'), 'fourth')).toContain('third');
  });

  test('a move is taken back by --cancel, and a start says what was written elsewhere since', async () => {
    const cancelled = await command(served, 'copy', '--cancel');
    expect(cancelled.stdout).toMatch(/can be started on again, as it was\.\n.*Start no meshd on sqlite:/s);
    const refused = start(served, '--standalone');
    expect(await refused.ended).toBe(1);
    expect(refused.stderr()).toMatch(/has less than this installation had.*entries are missing/s);
  });

  test.each([
    [[], /error: name where to: --to <url>/],
    [['--to', 'postgres://db/mesh'], /--to must begin with/],
    [['--to', ':memory:'], /a store in memory, which would end with this command/],
    [['--to', '@/nowhere/url'], /\/nowhere is not there/],
    [['--to', 'x.db', '--cancel'], /cannot be used with/],
  ])('meshd copy %j says what is wrong', async (given, said) => {
    const { code, stderr } = await command({}, 'copy', ...given);
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)]);
  });
});
