import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../harness.ts';
import { verifies } from '../requirements.ts';

const harness = await startHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const run = promisify(execFile);

/** The contract's requests as a shell would send them. */
async function curl(...args: string[]) {
  const { stdout } = await run('curl', ['-sS', '--max-time', '20', '-w', '\n%{http_code}', ...args]);
  const lines = stdout.split('\n');
  return { status: Number(lines.at(-1)), body: JSON.parse(lines.slice(0, -1).join('\n')) };
}

const json = ['-H', 'Content-Type: application/json'];

test('login, workspace and join token work with the very requests of the contract', async () => {
  verifies('login', 'workspace-add', 'token-generate', 'token-defaults');
  const login = await curl(
    '-X',
    'POST',
    `${harness.url}/api/v1/users/login`,
    ...json,
    '-d',
    JSON.stringify({ username: 'admin', password: ADMIN_PASSWORD }),
  );
  expect(login.status).toBe(200);
  const session = login.body.data.token;
  expect(typeof session).toBe('string');

  const bearer = ['-H', `Authorization: Bearer ${session}`];
  const workspace = await curl(
    '-X',
    'POST',
    `${harness.url}/api/v1/workspaces/add`,
    ...json,
    ...bearer,
    '-d',
    '{"slug":"demo","namespace":"demo-ns","displayName":"Demo","maxNodeCount":10}',
  );
  expect(workspace.body.data).toMatchObject({
    slug: 'demo',
    namespace: 'demo-ns',
    displayName: 'Demo',
    maxNodeCount: 10,
  });

  const scoped = [...bearer, '-H', `X-Workspace-Id: ${workspace.body.data.id}`];
  const generate = (fields: object) =>
    curl('-X', 'POST', `${harness.url}/api/v1/token/generate`, ...json, ...scoped, '-d', JSON.stringify(fields));
  const plain = await generate({ name: 'laptops', expiry: '' });
  expect(plain.body.token).toMatch(/^mesh-join-[\w-]{43}-[\w-]{16}$/);
  expect(plain.body.usageLimit).toBe(5);
  const days = (Date.parse(plain.body.expiresAt) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(6.99);
  expect(days).toBeLessThan(7.01);
  const day = await generate({ name: 'ci', expiry: '24h' });
  expect(Date.parse(day.body.expiresAt) - Date.now()).toBeLessThan(86_400_001);
  expect((await generate({ name: 'fleet', expiry: '', usageLimit: 40 })).body.usageLimit).toBe(40);
});

test('discovery answers 200 without a token and carries no credential', async () => {
  verifies('discovery');
  const { status, body } = await harness.api('GET', '/api/v1/discovery');
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual([
    'api',
    'controlKey',
    'controlKeyId',
    'edition',
    'name',
    'signalingUrl',
    'stunUrl',
    'version',
  ]);
});
