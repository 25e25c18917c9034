import { parseArgs } from 'node:util';
import { expect, it } from 'vitest';
import { buildHostUsers } from '../../bin/compose/host-users.ts';
import { BUILT_IN_PASSWORD } from '../../core/identity/first-accounts.ts';
import { buildApp } from '../../rest/app.ts';
import { listen } from '../../rest/listen.ts';
import { createMetrics } from '../../rest/metrics.ts';
import { operations } from '../../tools/index.ts';
import { ADMIN_PASSWORD, buildIdentityKit } from '../kits/plane/identity-kit.ts';

const CURL_OPTIONS = {
  request: { type: 'string', short: 'X' },
  header: { type: 'string', short: 'H', multiple: true },
  data: { type: 'string', short: 'd' },
} as const;
const JSON_TYPE = ['-H', 'Content-Type: application/json'];

/** The kit behind the HTTP face on loopback, and requests to it in the options of curl, as the contract shows them. */
async function startPlane(options?: Parameters<typeof buildIdentityKit>[0]) {
  const kit = await buildIdentityKit(options);
  const { log } = kit.services;
  const isHostUser = buildHostUsers();
  const app = buildApp({
    operations,
    gate: kit.gate,
    log,
    metrics: createMetrics(),
    ready: async () => [],
    isHostUser,
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });

  async function curl(...args: readonly string[]) {
    const { values, positionals } = parseArgs({ args: [...args], options: CURL_OPTIONS, allowPositionals: true });
    const response = await fetch(`${server.url}${positionals[0]}`, {
      method: values.request ?? 'GET',
      headers:
        values.header?.map((line): [string, string] => [line.split(': ')[0] ?? '', line.split(': ')[1] ?? '']) ?? [],
      ...(values.data !== undefined && { body: values.data }),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the route it calls.
      body: (await response.json()) as any,
    };
  }

  const login = (username: string, password: string, ...more: readonly string[]) =>
    curl('-X', 'POST', '/api/v1/users/login', ...JSON_TYPE, '-d', JSON.stringify({ username, password }), ...more);

  return {
    ...kit,
    curl,
    login,
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      await kit[Symbol.asyncDispose]();
    },
  };
}

const bearer = (token: string) => ['-H', `Authorization: Bearer ${token}`];

it('the requests of the contract work as they are written', async () => {
  await using plane = await startPlane();
  const login = await plane.login('admin', ADMIN_PASSWORD);
  expect([login.status, login.body]).toEqual([
    200,
    { data: { token: expect.any(String), expiresAt: expect.any(String), passwordChangeRequired: false } },
  ]);
  const session = bearer(login.body.data.token);

  const workspace = { slug: 'prod', namespace: 'prod', displayName: 'Production', maxNodeCount: 100 };
  const added = await plane.curl(
    ...['-X', 'POST', '/api/v1/workspaces/add', ...JSON_TYPE, ...session, '-d', JSON.stringify(workspace)],
  );
  expect([added.status, added.body]).toMatchObject([200, { data: { ...workspace, id: expect.stringMatching(/^w_/) } }]);

  const inWorkspace = ['-H', `X-Workspace-Id: ${added.body.data.id}`];
  const generate = (body: object) =>
    plane.curl(
      ...['-X', 'POST', '/api/v1/token/generate', ...JSON_TYPE, ...session, ...inWorkspace, '-d', JSON.stringify(body)],
    );
  const made = [
    await generate({ name: 'default', expiry: '' }),
    await generate({ name: 'a day', expiry: '24h' }),
    await generate({ name: 'twice', expiry: '', usageLimit: 2 }),
  ];
  expect(made.map(({ status, body }) => [status, body.name, body.usageLimit])).toEqual([
    [200, 'default', 5],
    [200, 'a day', 5],
    [200, 'twice', 2],
  ]);
  expect(new Set(made.map(({ body }) => body.token)).size).toBe(3);

  for (const path of ['/api/v1/token/list', '/api/v1/tokens']) {
    const listed = await plane.curl(path, ...session, ...inWorkspace);
    expect(listed.body.items.map(({ name }: { name: string }) => name).sort()).toEqual(['a day', 'default', 'twice']);
  }
  const revoked = await plane.curl('-X', 'DELETE', `/api/v1/tokens/${made[0]?.body.id}`, ...session, ...inWorkspace);
  expect([revoked.status, revoked.body]).toEqual([200, { revoked: true }]);
});

it('refusals say what is wrong and how to go on', async () => {
  await using plane = await startPlane();
  const anonymous = await plane.curl('/api/v1/users/me');
  expect([anonymous.status, anonymous.headers['www-authenticate'], anonymous.body.code]).toEqual([
    401,
    expect.stringMatching(/^Bearer/),
    'unauthenticated',
  ]);
  for (let guess = 0; guess < 5; guess += 1) expect((await plane.login('admin', 'wrong')).status).toBe(401);
  const limited = await plane.login('admin', ADMIN_PASSWORD);
  expect([limited.status, limited.headers['retry-after'], limited.body.code]).toEqual([429, '60', 'rate_limited']);
});

it('a first start without a configured password leads over the password change', async () => {
  await using plane = await startPlane({ initAdmins: false });
  const remote = await plane.login('admin', BUILT_IN_PASSWORD, '-H', 'X-Forwarded-For: 127.0.0.1');
  expect([remote.status, remote.body.code]).toEqual([403, 'forbidden']);
  const first = await plane.login('admin', BUILT_IN_PASSWORD);
  const session = bearer(first.body.data.token);
  const early = await plane.curl('/api/v1/workspaces', ...session);
  expect([early.status, early.body.code]).toEqual([403, 'password_change_required']);

  const newPassword = 'a-Better-one-42';
  const passwords = JSON.stringify({ oldPassword: BUILT_IN_PASSWORD, newPassword });
  const changed = await plane.curl(
    ...['-X', 'PUT', '/api/v1/users/me/password', ...JSON_TYPE, ...session, '-d', passwords],
  );
  expect([changed.status, changed.body]).toEqual([200, { changed: true }]);
  expect((await plane.curl('/api/v1/users/me', ...session)).status).toBe(401);

  const second = await plane.login('admin', newPassword);
  expect(second.body.data.passwordChangeRequired).toBe(false);
  const workspaces = await plane.curl('/api/v1/workspaces', ...bearer(second.body.data.token));
  expect([workspaces.status, workspaces.body]).toEqual([200, { items: [] }]);
});
