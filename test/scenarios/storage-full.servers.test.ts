import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { busNode } from '../kits/http/bus-node.ts';
import { ADMIN_PASSWORD, apiOf, configure, freshWorkspace } from '../kits/http/harness.ts';
import { startWiredPlane } from '../kits/http/wired-plane.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';

const DISK_MB = 24;
const RESERVE_MB = 8;
const MB = 1_048_576;

/** A small disk of its own; undefined where this user may not mount one. */
function smallDisk(): string | undefined {
  const directory = freshDirectory();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=700`, 'mesh-test', directory]);
  if (mounted.status !== 0) return undefined;
  onTestFinished(() => void execFileSync('umount', ['--lazy', directory]));
  return directory;
}

const freeMb = (directory: string) => {
  const { bavail, bsize } = statfsSync(directory);
  return (bavail * bsize) / MB;
};

/** Takes all but so much of the disk. */
function fill(directory: string, leaveMb: number, name = 'filler'): void {
  const bytes = Math.floor((freeMb(directory) - leaveMb) * MB);
  writeFileSync(path.join(directory, name), Buffer.alloc(bytes, 'x'));
}

test('a disk that fills refuses new records early, lets what frees room and what lets in through, and goes on once there is room', async ({
  skip,
}) => {
  const directory = smallDisk();
  if (directory === undefined) return skip('mounting a tmpfs needs root');
  configure(directory);
  const plane = startMeshd({ directory, env: { MESH_STORE_RESERVE: String(RESERVE_MB) } });
  const api = apiOf(await plane.ready());
  const asked = await freshWorkspace(api);
  const spec = { action: 'DENY', peerSelector: { matchLabels: { app: 'web' } } };
  const make = (name: string) => api('POST', '/api/v1/policies', { ...asked, body: { name, spec } });
  expect((await make('first')).status).toBe(201);
  expect((await make('second')).status).toBe(201);

  fill(directory, RESERVE_MB * 0.75);
  // What the disk had free is asked for again after a moment.
  await expect.poll(async () => (await make(`more-${Math.random()}`)).status).toBe(507);
  const refused = await make('third');
  expect([refused.status, refused.body.code]).toEqual([507, 'storage_full']);
  // What is there can still be changed, to take access away.
  const shut = { spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } };
  expect((await api('PUT', '/api/v1/policies/second', { ...asked, body: shut })).status).toBe(200);
  const notReady = await api('GET', '/readyz?verbose');
  expect(notReady.status).toBe(503);
  expect(notReady.body.checks).toContainEqual({
    name: 'disk',
    state: 'failed',
    detail: expect.stringContaining('storage_full'),
  });
  expect((await api('GET', '/healthz')).status).toBe(200);
  expect(plane.stderr()).toContain(refused.body.requestId);

  const login = await api('POST', '/api/v1/users/login', {
    body: { username: 'admin', password: 'correct horse battery staple' },
  });
  expect([login.status, (await api('DELETE', '/api/v1/policies/first', asked)).status]).toEqual([200, 200]);
  const wrong = await api('POST', '/api/v1/users/login', { body: { username: 'admin', password: 'not the password' } });
  expect(wrong.status).toBe(401);
  const events = await api('GET', '/api/v1/audit?limit=5', { token: login.body.data.token });
  expect(JSON.stringify(events.body.items)).toContain('refused');

  fill(directory, RESERVE_MB * 0.4, 'filler-too');
  const put = async () => (await api('PUT', '/api/v1/policies/second', { ...asked, body: { spec } })).status;
  await expect.poll(put).toBe(507);
  rmSync(path.join(directory, 'filler'));
  rmSync(path.join(directory, 'filler-too'));
  await expect.poll(async () => (await make('fourth')).status).toBe(201);
  expect((await api('GET', '/readyz')).status).toBe(200);
  const names = (await api('GET', '/api/v1/policies?limit=200', asked)).body.items.map(
    ({ name }: { name: string }) => name,
  );
  expect([
    names.includes('first'),
    names.includes('second'),
    names.includes('third'),
    names.includes('fourth'),
  ]).toEqual([false, true, false, true]);
  expect(await plane.stop()).toBe(0);
});

test('a disk without a byte left answers storage_full, loses nothing that was acknowledged, and starts again on it', async ({
  skip,
}) => {
  const directory = smallDisk();
  if (directory === undefined) return skip('mounting a tmpfs needs root');
  configure(directory);
  const env = { MESH_STORE_RESERVE: '1' };
  const plane = startMeshd({ directory, env });
  const api = apiOf(await plane.ready());
  const asked = await freshWorkspace(api);
  const annotations = { note: 'x'.repeat(200) };
  const acknowledged: string[] = [];
  fill(directory, 1.2);
  for (let count = 0; ; count++) {
    const name = `p${count}`;
    const spec = { action: 'DENY', peerSelector: { matchLabels: { name } } };
    const { status, body } = await api('POST', '/api/v1/policies', { ...asked, body: { name, spec, annotations } });
    if (status === 201) acknowledged.push(name);
    else {
      expect([status, body.code]).toEqual([507, 'storage_full']);
      break;
    }
  }
  // The reserve goes too: what works while the disk is nearly full fails in the same words, once there is nothing at all.
  const rest = path.join(directory, 'rest');
  spawnSync('sh', ['-c', `cat /dev/zero > '${rest}'`]);
  const login = await api('POST', '/api/v1/users/login', {
    body: { username: 'admin', password: 'correct horse battery staple' },
  });
  expect([200, 507]).toContain(login.status);
  const readiness = await api('GET', '/readyz?verbose');
  expect(readiness.body.checks.filter(({ state }: { state: string }) => state === 'failed')).toContainEqual(
    expect.objectContaining({ name: 'disk' }),
  );
  plane.child.kill('SIGKILL');
  await plane.ended;
  for (const name of ['rest', 'filler']) rmSync(path.join(directory, name));
  const next = startMeshd({ directory, env });
  const again = apiOf(await next.ready());
  for (const name of acknowledged)
    expect([name, (await again('GET', `/api/v1/policies/${name}`, asked)).status]).toEqual([name, 200]);
  expect(await next.stop()).toBe(0);
});

test('a flood of logins without rights and of a node that comes and goes leaves room to revoke and to delete', async ({
  skip,
}) => {
  const disk = smallDisk();
  if (disk === undefined) return skip('mounting a tmpfs needs root');
  const directory = path.join(disk, 'plane');
  mkdirSync(directory);
  await using plane = await startWiredPlane({ directory, env: { MESH_STORE_RESERVE: String(RESERVE_MB) } });
  const { harness, admin, busPort } = plane;
  const { api } = harness;
  const node = await plane.join('flapping');
  await using bus = await busNode(busPort, node);
  await bus.heartbeat();
  const mallory = { username: 'mallory', password: 'a long one of nobody else' };
  expect((await api('POST', '/api/v1/users', { ...admin, body: mallory })).status).toBe(201);
  const logIn = async (body: object) => (await api('POST', '/api/v1/users/login', { body })).status;
  expect(await logIn(mallory)).toBe(200);

  fill(disk, RESERVE_MB * 0.2);
  await expect.poll(() => logIn(mallory)).toBe(507);
  // The first checkpoint of a log is kept in the database, half a second after what it is of.
  for (const log of [admin, { token: admin.token }])
    expect((await api('GET', '/api/v1/audit/checkpoint', log)).status).toBe(200);
  const sizes = () => ['mesh.db', 'mesh.db-wal'].map((name) => statSync(path.join(directory, name)).size);
  const before = sizes();
  for (let count = 0; count < 8; count += 1) expect(await logIn(mallory)).toBe(507);
  expect(await logIn({ ...mallory, password: 'not the password' })).toBe(401);
  // As many as are heard of one node at once.
  for (let count = 0; count < 4; count += 1) {
    for (const leaving of [true, false])
      bus.nats.publish(bus.subjectOf('heartbeat'), bus.seal('heartbeat', { leaving }));
  }
  await bus.nats.flush();
  await bus.heartbeat();
  expect(sizes()).toEqual(before);

  expect(await logIn({ username: 'admin', password: ADMIN_PASSWORD })).toBe(200);
  const ofPeer = `/api/v1/peers/${node.id}`;
  expect((await api('POST', `${ofPeer}/revoke`, { ...admin, body: {} })).status).toBe(200);
  expect((await api('GET', ofPeer, admin)).body.status).toMatchObject({ phase: 'revoked', online: false });
  expect((await api('DELETE', ofPeer, admin)).status).toBe(200);
});
