import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { StunListener } from '../../net/stun/listener.ts';
import type { Disk } from './disk.ts';
import { probeBus, probeStun, probeTcp } from './probes.ts';
import { buildReadiness, type ReadinessParts } from './readiness.ts';

const MB = 1_048_576;
const NOON = Date.UTC(2026, 10, 25, 12);
const HOUR = 3_600_000;

function disk(freeMb: number): Disk {
  const [free, reserve] = [freeMb * MB, 64 * MB];
  return { free: () => free, reserve, isFull: () => free < reserve, sizes: () => ({ database: 0, wal: 0 }) };
}

const WELL = { acquire: async () => ({ fence: 1, expiresAt: 0 }), caughtUp: async () => undefined };

/** What is ready, but for what a test changes. */
function parts(changed: Partial<ReadinessParts> = {}): ReadinessParts {
  return {
    isUp: () => true,
    store: WELL,
    disk: disk(1_000),
    clock: { now: () => NOON },
    wire: { checks: () => [] },
    ...changed,
  };
}

const stateOf = async (changed: Partial<ReadinessParts>, name: string) =>
  (await buildReadiness(parts(changed))()).find((check) => check.name === name)?.state;

test('each part that fails is a failed check, under its name', async () => {
  expect(await stateOf({}, 'store')).toBe('ok');
  expect(await stateOf({ isUp: () => false }, 'process')).toBe('failed');
  const fails = () => Promise.reject(new Error('disk I/O error'));
  for (const broken of [{ acquire: fails }, { caughtUp: fails }])
    expect(await stateOf({ store: { ...WELL, ...broken } }, 'store')).toBe('failed');
  const wire = { checks: () => [{ name: 'relay', check: async () => ({ state: 'failed' as const, detail: 'no.' }) }] };
  expect(await stateOf({ wire }, 'relay')).toBe('failed');
});

test('an election is no failure of one control plane unless it takes too long, and one that is cut off fails after 5 s', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let isElecting = true;
  const store = { ...WELL, acquire: () => Promise.reject(new Error('no primary')) };
  const ready = buildReadiness(parts({ store, isElecting: () => isElecting }));
  const states = async () => (await ready()).flatMap(({ name, state }) => (name === 'store' ? state : []));
  expect(await states()).toEqual(['degraded']);
  vi.advanceTimersByTime(19_000);
  expect(await states()).toEqual(['degraded']);
  vi.advanceTimersByTime(2_000);
  expect(await states()).toEqual(['failed']);
  isElecting = false;
  const cutOff = buildReadiness(parts({ store, isElecting: () => isElecting }));
  const stateNow = async () => (await cutOff()).find(({ name }) => name === 'store')?.state;
  expect(await stateNow()).toBe('degraded');
  vi.advanceTimersByTime(6_000);
  expect(await stateNow()).toBe('failed');
});

test('a store that does not answer is told within a second, so that the check of a balancer does not time out', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const store = { ...WELL, acquire: () => new Promise<never>(() => {}) };
  const ready = buildReadiness(parts({ store, isElecting: () => true }));
  const stateAfter = async (ms: number) => {
    const checks = ready();
    await vi.advanceTimersByTimeAsync(ms);
    return (await checks).find(({ name }) => name === 'store')?.state;
  };
  for (let second = 0; second < 20; second += 1) expect(await stateAfter(1_000)).toBe('degraded');
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await stateAfter(1_000)).toBe('degraded');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await stateAfter(1_000)).toBe('failed');
});

test('little space on the disk is told of before writes are refused', async () => {
  expect(await stateOf({ disk: disk(257) }, 'disk')).toBe('ok');
  expect(await stateOf({ disk: disk(255) }, 'disk')).toBe('degraded');
  expect(await stateOf({ disk: disk(63) }, 'disk')).toBe('failed');
});

test('what is wrong with the file of the store and its backups is told, and the age of the newest', async () => {
  expect(await stateOf({}, 'backup')).toBeUndefined();
  const well = {
    writable: true,
    bytes: { file: 1, log: 0 },
    backup: { at: NOON - HOUR, ageMs: HOUR, bytes: 1 },
    problems: [],
  };
  expect(await stateOf({ storeState: () => well }, 'database')).toBe('ok');
  expect(await stateOf({ storeState: () => ({ ...well, backup: undefined }) }, 'database')).toBeUndefined();
  expect(await stateOf({ storeState: () => ({ ...well, problems: ['late'] }) }, 'database')).toBe('degraded');
  expect(await stateOf({ storeState: () => ({ ...well, writable: false, problems: ['gone'] }) }, 'database')).toBe(
    'failed',
  );
});

test('a log that cannot be written is told of, and those it lost after it can again', async () => {
  expect(await stateOf({}, 'log')).toBeUndefined();
  expect(await stateOf({ output: { lost: () => 3, isLosing: () => false } }, 'log')).toBe('ok');
  expect(await stateOf({ output: { lost: () => 3, isLosing: () => true } }, 'log')).toBe('degraded');
});

test('who asks again at once is answered without a further write', async () => {
  let writes = 0;
  const acquire = async () => {
    writes += 1;
    return { fence: writes, expiresAt: 0 };
  };
  const ready = buildReadiness(parts({ store: { ...WELL, acquire } }));
  await Promise.all([ready(), ready(), ready()]);
  expect(writes).toBe(1);
});

test('a listener for connections is tried by a connection', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  expect((await probeTcp({ host: '127.0.0.1', port })).state).toBe('ok');
  server.close();
  await once(server, 'close');
  expect((await probeTcp({ host: '127.0.0.1', port })).state).toBe('failed');
});

test('STUN is tried by a binding request, so a socket that takes it and says nothing has failed', async () => {
  const stun = new StunListener({ host: '127.0.0.1', port: 0, clock: { now: Date.now } });
  const { port } = await stun.start();
  expect((await probeStun({ host: '127.0.0.1', port })).state).toBe('ok');
  await stun.stop();
  const silent = createSocket('udp4').bind(0, '127.0.0.1');
  await once(silent, 'listening');
  expect((await probeStun({ host: '127.0.0.1', port: silent.address().port })).state).toBe('failed');
  silent.close();
});

test('a bus that is down has failed without being waited for', async () => {
  const flush = () => new Promise<void>(() => undefined);
  expect((await probeBus({ isUp: false, flush })).state).toBe('failed');
});
