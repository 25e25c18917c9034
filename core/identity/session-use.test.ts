import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { buildIdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { buildGate } from '../call/gate.ts';

const MINUTE_MS = 60_000;
const REMOTE = '203.0.113.7';
const IDLE = { signIn: { idleMs: 15 * MINUTE_MS } };
const SIGNED_OUT = {
  code: 'unauthenticated',
  message: 'Signed out after 15 minutes without use: log in again.',
};

test('a session that is used goes on, and one that is not ends after the idle time and says so', async () => {
  await using kit = await buildIdentityKit(IDLE);
  const [used, left] = [await kit.admin(), await kit.admin()];
  await kit.gate.authenticate(left, REMOTE);
  for (let turn = 0; turn < 3; turn += 1) {
    kit.clock.time += 14 * MINUTE_MS;
    await expect(kit.gate.authenticate(used, REMOTE)).resolves.toMatchObject({ name: 'admin' });
  }
  await expect(kit.gate.authenticate(left, REMOTE)).rejects.toMatchObject(SIGNED_OUT);
  await expect(kit.gate.authenticate(left, REMOTE)).rejects.toMatchObject(SIGNED_OUT);
});

test('looking again at what goes on is no use of a session, and what was ended each minute stays ended', async () => {
  await using kit = await buildIdentityKit(IDLE);
  const bearer = await kit.admin();
  const caller = await kit.gate.authenticate(bearer, REMOTE);
  kit.clock.time += 14 * MINUTE_MS;
  await caller.again?.();
  kit.clock.time += MINUTE_MS;
  await kit.gate.flushSessions();
  expect((await kit.events()).at(-1)).toMatchObject({ type: 'session_idle', actor: 'user:admin' });
  await expect(kit.gate.authenticate(bearer, REMOTE)).rejects.toMatchObject(SIGNED_OUT);
});

test('without the setting a session that is not used goes on', async () => {
  await using kit = await buildIdentityKit();
  const bearer = await kit.admin();
  await kit.gate.authenticate(bearer, REMOTE);
  kit.clock.time += 11 * 60 * MINUTE_MS;
  await kit.gate.flushSessions();
  await expect(kit.gate.authenticate(bearer, REMOTE)).resolves.toMatchObject({ name: 'admin' });
});

test('a session in use is told to the store a few times in its idle time, and no more', async () => {
  await using kit = await buildIdentityKit(IDLE);
  const bearer = await kit.admin();
  const before = await kit.services.store.revision('w_system');
  for (let minute = 0; minute < 60; minute += 1) {
    kit.clock.time += MINUTE_MS;
    await kit.gate.authenticate(bearer, REMOTE);
    await kit.gate.flushSessions();
  }
  const writes = (await kit.services.store.revision('w_system')) - before;
  expect(writes).toBeGreaterThan(10);
  expect(writes).toBeLessThan(25);
});

test.each([
  ['an orderly end', true],
  ['a crash', false],
])('after %s a session in use goes on, and one that was idle is not revived', async (_what, isOrderly) => {
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-idle-'));
  const file = path.join(home, 'mesh.db');
  try {
    const before = await buildIdentityKit({ ...IDLE, path: file });
    const [used, left] = [await before.admin(), await before.admin()];
    await before.gate.authenticate(left, REMOTE);
    for (let minute = 0; minute < 20; minute += 1) {
      before.clock.time += MINUTE_MS;
      await before.gate.authenticate(used, REMOTE);
      await before.gate.flushSessions();
    }
    if (isOrderly) await before.gate.flushSessions({ isLast: true });
    const { keys } = before.services;
    const { time } = before.clock;
    await before[Symbol.asyncDispose]();
    await using after = await buildIdentityKit({ ...IDLE, path: file, keys, now: time + 10 * MINUTE_MS });
    await expect(after.gate.authenticate(used, REMOTE)).resolves.toMatchObject({ name: 'admin' });
    await expect(after.gate.authenticate(left, REMOTE)).rejects.toMatchObject(SIGNED_OUT);
    after.clock.time += 15 * MINUTE_MS;
    await expect(after.gate.authenticate(used, REMOTE)).rejects.toMatchObject(SIGNED_OUT);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('of two control planes each lets a session go on that the other is used through, and both end one that neither is', async () => {
  await using kit = await buildIdentityKit(IDLE);
  const services = { ...kit.services, settings: { ...kit.services.settings, sharesStore: true } };
  const [one, other] = [buildGate(services), buildGate(services)];
  const minutes = async (count: number, use: () => Promise<unknown>) => {
    for (let minute = 0; minute < count; minute += 1) {
      kit.clock.time += MINUTE_MS;
      await use();
      for (const gate of [one, other]) await gate.flushSessions();
    }
  };
  const bearer = await kit.admin();
  await other.authenticate(bearer, REMOTE);
  // Shortly before it would be kept that it is used.
  await minutes(3, () => one.authenticate(bearer, REMOTE));
  await minutes(14, async () => undefined);
  await expect(other.authenticate(bearer, REMOTE)).resolves.toMatchObject({ name: 'admin' });
  await minutes(40, () => one.authenticate(bearer, REMOTE));
  await expect(other.authenticate(bearer, REMOTE)).resolves.toMatchObject({ name: 'admin' });
  await minutes(20, async () => undefined);
  for (const gate of [one, other]) await expect(gate.authenticate(bearer, REMOTE)).rejects.toMatchObject(SIGNED_OUT);
  expect((await kit.events()).filter(({ type }) => type === 'session_idle')).toHaveLength(1);
  for (const gate of [one, other]) gate.close();
});
