import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { GuardedClock } from '../../core/base/guarded-clock.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';

const MINUTE = 60_000;

/** The clocks of a host that somebody sets; real time goes on. */
function host() {
  const moved = { wall: 0, monotonic: 0 };
  return {
    clock: () =>
      new GuardedClock({ wall: () => Date.now() + moved.wall, monotonic: () => performance.now() + moved.monotonic }),
    pass(ms: number) {
      moved.wall += ms;
      moved.monotonic += ms;
    },
    set(ms: number) {
      moved.wall += ms;
    },
    wall: () => Date.now() + moved.wall,
  };
}

interface Setting {
  readonly harness: Harness;
  readonly asked: { readonly token: string; readonly workspace: string };
}

const policy = (name: string, ttl?: string) => ({
  name,
  spec: { action: 'DENY', peerSelector: { matchLabels: { name } } },
  ...(ttl && { ttl }),
});

async function make({ harness, asked }: Setting, name: string, ttl?: string) {
  const { status, body } = await harness.api('POST', '/api/v1/policies', { ...asked, body: policy(name, ttl) });
  expect([status, body]).toMatchObject([201, { name }]);
  return body;
}

const statusOf = async ({ harness, asked }: Setting, name: string) =>
  (await harness.api('GET', `/api/v1/policies/${name}`, asked)).status;

async function instants({ harness, asked }: Setting): Promise<number[]> {
  const { body } = await harness.api('GET', '/api/v1/audit?limit=200', asked);
  return body.items.map(({ at }: { at: string }) => Date.parse(at)).toReversed();
}

test('after a step back of 20 minutes an expired policy stays gone, and nothing is recorded ahead of the clock that is shown', async () => {
  const machine = host();
  const clock = machine.clock();
  await using harness = await startHarness({ clock });
  const setting = { harness, asked: await harness.workspace() };
  await make(setting, 'short', '10m');
  machine.set(11 * MINUTE);
  await expect.poll(() => statusOf(setting, 'short')).toBe(404);

  machine.set(-20 * MINUTE);
  await make(setting, 'after');
  expect(await statusOf(setting, 'short')).toBe(404);
  const all = await instants(setting);
  expect(all).toEqual(all.toSorted((a, b) => a - b));
  expect(all.at(-1)).toBeLessThanOrEqual(clock.now());
  const readiness = await harness.api('GET', '/readyz?verbose');
  expect(readiness.body.checks).toContainEqual({
    name: 'clock',
    state: 'degraded',
    detail: expect.stringMatching(/went back and is 1[12]\d\d s behind .*1 forward, 1 back/),
  });
  expect((await harness.api('GET', '/metrics')).text).toMatch(/^mesh_clock_steps_total\{direction="back"\} 1$/m);
  expect(harness.log.filter((line) => line.includes('the clock of this host went back'))).toHaveLength(1);
});

test('what was deleted before a step back is not answered from before its deletion, now or as of now', async () => {
  const machine = host();
  const clock = machine.clock();
  await using harness = await startHarness({ clock });
  const setting = { harness, asked: await harness.workspace() };
  await make(setting, 'gone');
  machine.pass(MINUTE);
  expect((await harness.api('DELETE', '/api/v1/policies/gone', setting.asked)).status).toBeLessThan(300);
  machine.set(-20 * MINUTE);
  expect(await statusOf(setting, 'gone')).toBe(404);
  const now = new Date(clock.now()).toISOString();
  const { status, body } = await harness.api('GET', `/api/v1/export?at=${now}`, setting.asked);
  expect([status, JSON.stringify(body).includes('gone')]).toEqual([200, false]);
});

test('a token that expired does not come back by a step back, nor by a start after it', async () => {
  const machine = host();
  const first = await startHarness({ clock: machine.clock() });
  const asked = await first.workspace();
  const made = await first.api('POST', '/api/v1/users/me/api-tokens', {
    ...asked,
    body: { name: 'short', expiry: '10m' },
  });
  expect(made.status).toBe(201);
  const { token } = made.body;
  const call = async ({ api }: Pick<Harness, 'api'>) => (await api('GET', '/api/v1/users/me', { token })).status;
  expect(await call(first)).toBe(200);
  machine.pass(11 * MINUTE);
  expect(await call(first)).toBe(401);
  machine.set(-20 * MINUTE);
  expect(await call(first)).toBe(401);
  await first.stop();

  const shown = Date.parse(readFileSync(path.join(first.directory, 'clock'), 'utf8').trim());
  expect(shown).toBeGreaterThan(machine.wall());
  const clock = machine.clock();
  await using again = await startHarness({ clock, directory: first.directory });
  expect([await call(again), clock.now() >= shown]).toEqual([401, true]);
  expect(again.log.join('\n')).toContain('the clock of this host went back');
});

test('after a step forward, or a sleep of the host, what ended meanwhile ends within a look at the clock', async () => {
  const machine = host();
  await using harness = await startHarness({ clock: machine.clock() });
  const setting = { harness, asked: await harness.workspace() };
  await make(setting, 'short', '10m');
  machine.set(11 * MINUTE);
  // The job that removes it has set its timer for ten minutes on: it is the step that wakes it.
  await expect.poll(() => harness.log.join('\n')).toContain('the clock of this host went forward');
  await expect
    .poll(async () => (await harness.api('GET', '/api/v1/policies', setting.asked)).body.items.length)
    .toBe(0);
});

test('an installation whose clock file is gone goes on from the newest entry of its logs', async () => {
  const machine = host();
  const first = await startHarness({ clock: machine.clock() });
  const setting = { harness: first, asked: await first.workspace() };
  machine.pass(20 * MINUTE);
  await make(setting, 'late');
  const last = (await instants(setting)).at(-1) ?? Number.NaN;
  await first.stop();
  rmSync(path.join(first.directory, 'clock'));
  machine.set(-20 * MINUTE);
  const clock = machine.clock();
  await using again = await startHarness({ clock, directory: first.directory });
  expect(clock.now()).toBeGreaterThanOrEqual(last);
  await make({ harness: again, asked: setting.asked }, 'later');
});
