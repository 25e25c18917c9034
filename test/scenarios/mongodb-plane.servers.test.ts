import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { apiOf, configure, freshWorkspace, loginWithOwn } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const database = 'mesh_itself';
const directory = freshDirectory();

describe.skipIf(!hasMongod)('meshd on a replica set', () => {
  let servers: Databases;
  let env: { MESH_STORE_URL: string };
  beforeAll(async () => {
    servers = await shareReplicaSet();
    env = { MESH_STORE_URL: servers.url(database) };
    configure(directory);
  });
  afterAll(async () => {
    await servers.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const start = (...more: string[]) => {
    const meshd = startMeshd({ directory, env, command: [launcher('meshd'), '--standalone', ...more] });
    onTestFinished(async () => {
      await meshd.stop();
    });
    return meshd;
  };
  const command = (...args: string[]) => run(launcher('meshd'), [...args, '--config-dir', directory], { env });
  let place: { token: string; workspace: string };

  test('serves, is ready, and says so to who looks at it', async () => {
    const meshd = start();
    const api = apiOf(await meshd.ready());
    place = await freshWorkspace(api);
    const body = { name: 'closed', spec: { action: 'DENY', peerSelector: {} } };
    expect((await api('POST', '/api/v1/policies', { ...place, body })).status).toBe(201);
    const ready = await api('GET', '/readyz');
    expect([ready.status, ready.body]).toEqual([200, { status: 'ready' }]);
    const doctor = await command('doctor', '--json');
    const found = new Map<string, object>(
      JSON.parse(doctor.stdout).items.map((item: { check: string }) => [item.check, item]),
    );
    expect(found.get('database')).toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(/^MongoDB 6\.\S+ answers, a replica set rs0 of 3/),
    });
    expect(found.get('nodes')).toMatchObject({ state: 'ok', detail: 'No nodes have joined.' });
    expect(found.has('backup')).toBe(false);
  });

  test('keeps everything over a restart', async () => {
    const api = apiOf(await start().ready());
    const { body } = await api('GET', '/api/v1/policies', place);
    expect(JSON.stringify(body)).toContain('closed');
  });

  test('lets the host end the need for a second person while it is stopped, and not before', async () => {
    const meshd = start();
    const api = apiOf(await meshd.ready());
    const [at, { token }] = [`/api/v1/workspaces/${place.workspace}`, place];
    const bob = { username: 'bob', password: 'a-good-Pass-1', role: 'platform_admin' };
    await api('POST', '/api/v1/users', { token, body: bob });
    await loginWithOwn(api, bob.username, bob.password, 'a-good-Pass-2');
    const weaker = { token, body: { settings: { selfApproval: true } } };
    expect((await api('PATCH', at, weaker)).body).toMatchObject({ status: 'pending_approval' });
    expect(await command('end-approval', place.workspace)).toMatchObject({ code: 1 });
    await meshd.stop();
    expect(await command('end-approval', place.workspace)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('approve their own requests'),
    });
    const again = apiOf(await start().ready());
    expect((await again('GET', at, { token })).text).toContain('"selfApproval":true');
  });

  test('lets the host reset a password beside it, and while it is stopped', async () => {
    const reset = async () => {
      const { code, stdout, stderr } = await command('reset-password', 'admin', '--generate');
      expect([code, stderr]).toEqual([0, '']);
      return /shown this once: (\S+)/.exec(stdout)?.[1] ?? '';
    };
    const meshd = start();
    const api = apiOf(await meshd.ready());
    expect(await loginWithOwn(api, 'admin', await reset(), 'the own password of admin 1')).not.toBe('');
    await meshd.stop();
    const generated = await reset();
    const later = apiOf(await start().ready());
    const token = await loginWithOwn(later, 'admin', generated, 'the own password of admin 2');
    expect((await later('GET', '/api/v1/users', { token })).status).toBe(200);
  });

  test.each([['backup', 'x.db'], ['restore', 'x.db'], ['compact']])(
    'meshd %s says what does its work there',
    async (...args) => {
      const { code, stderr } = await command(...args);
      expect([code, stderr]).toEqual([1, expect.stringContaining('mongodump --oplog')]);
    },
  );

  test('is not started with new keys on a database that others have written', async () => {
    const elsewhere = freshDirectory();
    onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
    const meshd = startMeshd({ directory: elsewhere, env, command: [launcher('meshd'), '--standalone'] });
    expect(await meshd.ended).toBe(1);
    expect(meshd.stderr()).toMatch(/credentials\.json is not there/);
  });

  test('is not started on a database that lacks what was signed, unless that is given up', async () => {
    await servers.db(database).dropDatabase();
    const refused = start();
    expect(await refused.ended).toBe(1);
    expect(refused.stderr()).toMatch(/MESH_STORE_URL names has less .*entries are missing.*--accept-loss/s);
    expect(await servers.db(database).collection('log').countDocuments()).toBe(0);
    const accepted = start('--accept-loss');
    await accepted.ready();
    const told = await servers
      .db(database)
      .collection('log')
      .findOne({ entry: /audit\.accepted/ });
    expect(told?.['entry']).toContain('meshd --accept-loss');
    await accepted.stop();
    await start().ready();
  });
});
