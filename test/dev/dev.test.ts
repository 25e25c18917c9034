import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { apiOf } from '../kits/http/harness.ts';
import { COMPILE_CACHE } from '../kits/process/run-command.ts';
import { PASSWORD } from '../kits/web/page-people.ts';

const OFF = { MESH_LISTEN: '127.0.0.1:0', MESH_BUS_LISTEN: 'off', MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' };
const home = mkdtempSync(path.join(tmpdir(), 'mesh-dev-'));
const directory = path.join(home, 'data');
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('npm run seed -- --help says what it does and seeds nothing', () => {
  const cwd = mkdtempSync(path.join(home, 'help-'));
  const script = path.resolve(import.meta.dirname, 'seed.ts');
  const { status, stdout } = spawnSync(process.execPath, [script, '--help'], { cwd, encoding: 'utf8' });
  expect([status, stdout.startsWith('npm run seed'), readdirSync(cwd)]).toEqual([0, true, []]);
});

test('npm run seed -- DIRECTORY says how to start it, and leaves no accounts for that start to ignore', () => {
  const cwd = path.resolve(import.meta.dirname, '../..');
  const own = path.join(home, 'own');
  const { status, stdout } = spawnSync(process.execPath, ['test/dev/seed.ts', own], { cwd, encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, expect.stringContaining(`npm start -- --config-dir ${own}\n`)]);
  expect(readFileSync(path.join(own, 'config.yaml'), 'utf8')).not.toContain('initAdmins');
}, 120_000);

/** Seeding and starting, on a machine with other work. */
const PATIENCE_MS = 400_000;
const PATIENCE = { timeout: PATIENCE_MS / 2, interval: 100 };

test('npm run dev seeds thirty peers, serves the dashboard, lets its administrator in through it, restarts at a change, and ends when told', {
  timeout: PATIENCE_MS,
}, async () => {
  expect(existsSync(directory)).toBe(false);
  const dev = spawn(process.execPath, ['test/dev/dev.ts', '--directory', directory, '--port', '0'], {
    env: { PATH: process.env['PATH'], HOME: home, ...COMPILE_CACHE, ...OFF },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void dev.kill('SIGKILL'));
  let output = '';
  const printed = Promise.withResolvers<void>();
  dev.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
    if (output.includes('Data  ')) printed.resolve();
  });
  const ended = once(dev, 'close');
  await Promise.race([printed.promise, ended]);
  expect(output).toContain(PASSWORD);
  const [, address = ''] = /^Dashboard +(\S+)$/m.exec(output) ?? [];
  expect(await (await fetch(address)).text()).toContain('/src/main.tsx');

  const api = apiOf(address);
  const headers = { origin: new URL(address).origin };
  const login = await api('POST', '/api/v1/users/login', {
    headers,
    body: { username: 'admin', password: PASSWORD },
  });
  expect(login.status).toBe(200);
  const { token } = login.body.data;
  const workspaces = await api('GET', '/api/v1/workspaces', { token });
  expect([workspaces.status, workspaces.text]).toEqual([200, expect.stringContaining('"prod"')]);
  const [{ id: workspace }] = workspaces.body.items;
  const { body: peers } = await api('GET', '/api/v1/peers?limit=100', { token, workspace });
  expect(peers.items).toHaveLength(30);
  const { body: workflows } = await api('GET', '/api/v1/workflows?status=pending', { token, workspace });
  expect(workflows.items).toContainEqual(expect.objectContaining({ status: 'pending' }));

  const seeding = spawnSync(process.execPath, ['test/dev/seed.ts', directory], { encoding: 'utf8' });
  expect([seeding.status, seeding.stderr]).toEqual([1, expect.stringContaining('is in use by another meshd')]);
  utimesSync('core/base/memoize.ts', new Date(), new Date());
  await vi.waitUntil(() => output.split('Restarting').length > 1 && output.split('/api/v1 ').length > 2, PATIENCE);
  const heavy = await api('GET', '/api/v1/connectivity/explain?src=web-1&dst=db-1', { token, workspace });
  expect([heavy.status, heavy.text]).toEqual([200, expect.stringContaining('explanation')]);

  dev.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
});
