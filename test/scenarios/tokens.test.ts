import { expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, register } from '../kits/http/joining.ts';
import { verifies } from '../verifies.ts';

const DAY_MS = 86_400_000;

test('a join token is refused from its last instant on, and removed with the used-up ones', async () => {
  verifies('token-expiry', 'token-defaults');
  let now = Date.now();
  const clock = { now: () => now };
  await using first = await startHarness({ clock });
  const place = await first.workspace();
  const week = await first.api('POST', '/api/v1/token/generate', { ...place, body: { name: 'week', expiry: '' } });
  expect([week.body.usageLimit, week.body.expiresAt]).toEqual([5, new Date(now + 7 * DAY_MS).toISOString()]);
  await joinTokenFor(first, place, { name: 'month', expiry: '30d' });
  const once = await joinTokenFor(first, place, { name: 'once', expiry: '30d', usageLimit: 1 });
  expect((await register(first, once, 'only')).status).toBe(201);

  now = Date.parse(week.body.expiresAt) - 1;
  expect((await register(first, week.body.token, 'in-time')).status).toBe(201);
  now += 1;
  const late = await register(first, week.body.token, 'late');
  expect(late.body).toMatchObject({ status: 401, code: 'unauthenticated' });
  await first.stop();

  await using second = await startHarness({ clock, directory: first.directory });
  const token = await second.login();
  const names = async () => {
    const { body } = await second.api('GET', '/api/v1/tokens', { ...place, token });
    return body.items.map(({ name }: { name: string }) => name);
  };
  await expect.poll(names).toEqual(['month']);
  for (const gone of [week.body.token, once]) {
    const answer = await register(second, gone, 'too-late');
    expect(answer.body).toMatchObject({ status: 401, code: 'unauthenticated' });
    expect(answer.body.detail).toMatch(/unknown or removed/i);
  }
});

test('a session ends after 12 hours, and at logout', async () => {
  verifies('login', 'auth-session');
  let now = Date.now();
  await using harness = await startHarness({ clock: { now: () => now } });
  const login = await harness.api('POST', '/api/v1/users/login', {
    body: { username: 'admin', password: 'correct horse battery staple' },
  });
  const { token, expiresAt } = login.body.data;
  expect(Date.parse(expiresAt) - now).toBeLessThanOrEqual(12 * 3_600_000);
  const status = async (session: string) => (await harness.api('GET', '/api/v1/users/me', { token: session })).status;
  now = Date.parse(expiresAt) - 1_000;
  expect(await status(token)).toBe(200);
  const other = await harness.login();
  now += 2_000;
  expect([await status(token), await status(other)]).toEqual([401, 200]);
  await harness.api('POST', '/api/v1/users/logout', { token: other });
  expect(await status(other)).toBe(401);
});

test('a join link names the port that the plane took where it was to take a free one', async () => {
  await using plane = await startHarness();
  const place = await plane.workspace();
  const { body } = await plane.api('POST', '/api/v1/token/generate', { ...place, body: { name: 'link', expiry: '' } });
  const link = Object.values(body as Record<string, unknown>).find((value) => String(value).startsWith('mesh://'));
  expect(new URL(String(link)).searchParams.get('server')).toBe(plane.url);
});
