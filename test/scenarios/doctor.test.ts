import { chmodSync, closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { VERSION } from '../../bin/compose/version.ts';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { apiOf, configure, freshWorkspace } from '../kits/http/harness.ts';
import { enrol } from '../kits/plane/devices.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';
import { fixtureOf } from '../releases/fixture.ts';

/** Of the database. */
const PAGE_BYTES = 4_096;
const NO_PORTS = {
  MESH_LISTEN: '127.0.0.1:0',
  MESH_BUS_LISTEN: 'off',
  MESH_RELAY_LISTEN: 'off',
  MESH_STUN_LISTEN: 'off',
};

/** @returns the exit code, and of each check what it found */
async function doctor(directory: string, env: Readonly<Record<string, string>> = {}) {
  const args = ['doctor', '--json', '--config-dir', directory];
  const { code, stdout, stderr } = await run(launcher('meshd'), args, {
    env: { HOME: directory, ...NO_PORTS, ...env },
  });
  expect(stderr).toBe('');
  const items: { check: string; state: string; detail: string; repaired?: true }[] = JSON.parse(stdout).items;
  const of = (check: string) => items.filter((item) => item.check === check);
  return { code, items, of };
}

const release = () => fixtureOf('0.1.0').directory;

test('an installation that is well ends with 0, and each check says what it saw', async () => {
  const { code, items, of } = await doctor(release());
  expect([code, items.filter(({ state }) => state === 'failed')]).toEqual([0, []]);
  expect(new Set(items.map(({ check }) => check))).toEqual(
    new Set(['database', 'space', 'backup', 'files', 'clock', 'certificates', 'networks', 'nodes']),
  );
  expect(of('backup')).toMatchObject([{ state: 'warning', detail: expect.stringContaining('meshd backup FILE') }]);
  expect(of('nodes')).toMatchObject([{ detail: `Nodes by version: unknown: 6; meshd is ${VERSION}.` }]);
});

test('a network that new rules would refuse stays, and is named with what became of it', async () => {
  const directory = release();
  const { of } = await doctor(directory);
  expect(of('networks')).toMatchObject([{ state: 'ok' }]);
  const { of: held } = await doctor(directory, { MESH_SIGNALING_URL: 'nats://10.96.0.77:4222' });
  const detail = expect.stringMatching(
    /^The network default of the workspace \S+ keeps its block, .*10\.96\.0\.0\/24 holds 10\.96\.0\.77 \(TCP 4222\)/,
  );
  expect(held('networks')[0]).toMatchObject({ state: 'warning', detail });
});

test('a secret that others can read is narrowed, and said to be', async () => {
  const directory = release();
  const file = path.join(directory, 'credentials.json');
  chmodSync(file, 0o644);
  const first = await doctor(directory);
  expect(first.of('files')).toMatchObject([
    { state: 'ok', repaired: true, detail: expect.stringContaining('narrowed to 0600') },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await doctor(directory)).of('files')).not.toMatchObject([{ repaired: true }]);
});

describe('what keeps a control plane from its work ends with 1 and is named:', () => {
  test('a bus elsewhere of which no server answers, without its password', async () => {
    const { code, of } = await doctor(release(), { MESH_BUS_URL: 'nats://plane:of-a-test@127.0.0.1:1' });
    const detail = expect.stringMatching(
      /^127\.0\.0\.1:1, of MESH_BUS_URL, does not let this control plane in \((?!.*of-a-test)/,
    );
    expect([code, of('bus')]).toMatchObject([1, [{ state: 'failed', detail }]]);
  });

  test('a damaged database', async () => {
    const directory = release();
    const database = openSync(path.join(directory, 'mesh.db'), 'r+');
    writeSync(database, Buffer.alloc(PAGE_BYTES, 0xff), 0, PAGE_BYTES, 5 * PAGE_BYTES);
    closeSync(database);
    const { code, of } = await doctor(directory);
    expect([code, of('database')]).toMatchObject([
      1,
      [{ state: 'failed', detail: expect.stringContaining('is damaged') }],
    ]);
  });

  test('a record that cannot be read', async () => {
    const directory = release();
    const database = new DatabaseSync(path.join(directory, 'mesh.db'));
    database.exec("UPDATE record SET body = '{' WHERE name = 'shut'");
    database.close();
    const { code, of } = await doctor(directory);
    expect([code, of('database')]).toMatchObject([
      1,
      [
        {
          detail: expect.stringMatching(
            /is damaged \(MeshPolicy shut of workspace w_\w+, as of revision \d+ cannot be read\)/,
          ),
        },
      ],
    ]);
  });

  test.each<[string, string, string, RegExp]>([
    ['of a newer version', 'PRAGMA user_version = 99', 'database', /has schema 99, newer than/],
    ['whose log may be changed', 'DROP TRIGGER audit_is_never_changed', 'database', /lacks the trigger/],
    ['whose retention cannot be read', "UPDATE workspace SET keep = '{{{'", 'database', /kept revisions of workspace/],
    [
      'with a record that has no name',
      "UPDATE record SET body = '{}' WHERE name = 'shut'",
      'networks',
      /MeshPolicy shut of workspace w_\w+, as of revision \d+ cannot be read/,
    ],
    [
      'with a network that has no block',
      "UPDATE record SET body = json_set(body, '$.spec', json('{}')) WHERE kind = 'MeshNetwork'",
      'networks',
      /^The network \S+ of the workspace \S+ is damaged: its spec has no block/,
    ],
    [
      'with a peer that has no status',
      "UPDATE record SET body = json_set(body, '$.status', json('{}')) WHERE kind = 'MeshPeer'",
      'nodes',
      /^The peer \S+ of the workspace \S+ is damaged: its status has no phase/,
    ],
  ])('a database %s', async (_what, edit, check, detail) => {
    const directory = release();
    const database = new DatabaseSync(path.join(directory, 'mesh.db'));
    database.exec(edit);
    database.close();
    const { code, items, of } = await doctor(directory);
    expect([code, of(check)[0]]).toMatchObject([1, { state: 'failed', detail: expect.stringMatching(detail) }]);
    expect(JSON.stringify(items)).not.toMatch(/Cannot read|undefined/);
  });

  test('a port that another program has', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { code, of } = await doctor(release(), { MESH_RELAY_LISTEN: `127.0.0.1:${port}` });
    server.close();
    expect([code, of('ports')]).toMatchObject([
      1,
      [{ state: 'failed', detail: expect.stringMatching(/^The relay .* cannot be opened \(another program has it\)/) }],
    ]);
  });

  test('a configuration that is wrong', async () => {
    const { code, of } = await doctor(release(), { MESH_EDITION: 'gold' });
    expect([code, of('configuration')]).toMatchObject([1, [{ detail: expect.stringContaining('MESH_EDITION') }]]);
  });
});

test('a clock behind what was recorded, and how long a certificate is valid, are told', async () => {
  const directory = release();
  const files = { MESH_TLS_CERT: path.join(directory, 'cert.pem'), MESH_TLS_KEY: path.join(directory, 'key.pem') };
  writeFileSync(files.MESH_TLS_CERT, testCertificate.cert);
  writeFileSync(files.MESH_TLS_KEY, testCertificate.key);
  writeFileSync(path.join(directory, 'clock'), `${new Date(Date.now() + 3_600_000).toISOString()}\n`);
  const { code, of } = await doctor(directory, files);
  expect(code).toBe(0);
  expect(of('clock')).toMatchObject([
    { state: 'warning', detail: expect.stringMatching(/before what was recorded last/) },
  ]);
  expect(of('certificates')).toMatchObject([{ detail: expect.stringMatching(/is valid for \d+ more days, until /) }]);
});

test('an empty database that nothing is known of is no fault', async () => {
  const directory = freshDirectory();
  writeFileSync(path.join(directory, 'mesh.db'), '');
  const { code, of } = await doctor(directory);
  expect([code, of('database')]).toMatchObject([0, [{ detail: expect.stringContaining('No control plane has run') }]]);
});

test('beside a control plane that runs its listeners are used, and its nodes are counted by the version that they said', async () => {
  const directory = freshDirectory();
  configure(directory);
  const meshd = startMeshd({ directory });
  const url = await meshd.ready();
  const api = apiOf(url);
  const place = await freshWorkspace(api);
  const { body } = await api('POST', '/api/v1/token/generate', { ...place, body: { name: 't', usageLimit: 9 } });
  let nodes = 0;
  for (const version of ['0.1.0', '0.2.0', '0.2.0', undefined]) {
    const { deviceToken: token } = await enrol({ api }, body.token, `node-${nodes++}`, { version });
    if (nodes % 2 === 0) await api('POST', '/api/v1/devices/self/heartbeat', { token, body: {} });
  }
  const { code, of } = await doctor(directory, { MESH_LISTEN: new URL(url).host });
  await meshd.stop();
  const again = startMeshd({ directory });
  const { body: peers } = await apiOf(await again.ready())('GET', '/api/v1/peers', place);
  await again.stop();
  const said = peers.items.map(({ status }: { status: { version: string | null } }) => status.version);
  expect(said.sort()).toEqual(['0.1.0', '0.2.0', '0.2.0', null]);
  expect(of('ports')).toMatchObject([
    { state: 'ok', detail: expect.stringMatching(/^The API .* takes connections\.$/) },
  ]);
  expect(of('nodes')).toMatchObject([
    { detail: `Nodes by version: 0.1.0: 1, 0.2.0: 2, unknown: 1; meshd is ${VERSION}.` },
  ]);
  expect(code).toBe(0);
});
