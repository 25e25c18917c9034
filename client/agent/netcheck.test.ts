import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { StunListener } from '../../net/stun/listener.ts';
import { askStun, type MappedAddress, Names, natKindOf, reach } from './netcheck.ts';

const sight = (server: string, port: number, address = '203.0.113.7'): MappedAddress => ({
  server,
  address,
  port,
  roundTripMs: 1,
});
const NOBODY = new Set<string>();

test.each([
  ['none', 'the address is its own', [sight('a', 4_000, '10.0.0.2')], new Set(['10.0.0.2'])],
  ['easy', 'every server saw the same port', [sight('a', 9_000), sight('b', 9_000)], NOBODY],
  ['hard', 'each server saw another port', [sight('a', 9_000), sight('b', 9_001)], NOBODY],
  ['easy', 'the one server saw the port kept', [sight('a', 4_000)], NOBODY],
  ['unknown', 'the one server saw another port', [sight('a', 9_000)], NOBODY],
  ['unknown', 'no server answered', [], NOBODY],
])('the NAT is %s when %s', (kind, _when, sights, own) => {
  expect(natKindOf({ localPort: 4_000, sights }, own).kind).toBe(kind);
});

test('a STUN server is asked on every address of its name, and a silent one is not among those that answered', async () => {
  const silent = () => {};
  const log = { error: silent, warn: silent, info: silent, debug: silent };
  const listener = new StunListener({ host: '127.0.0.1', port: 0, clock: { now: Date.now }, log, ratePerSecond: 100 });
  const { port } = await listener.start();
  try {
    const [there, away] = [
      { host: '127.0.0.1', port },
      { host: 'no.such.invalid', port },
    ];
    const { localPort, sights, answered } = await askStun([there, away], 4);
    expect([...answered]).toEqual([there]);
    expect(sights.map(({ address, port: seen }) => [address, seen])).toEqual([['127.0.0.1', localPort]]);
  } finally {
    await listener.stop();
  }
});

test('a name without an address is named with the reason, and asked for once', async () => {
  const asked: string[] = [];
  const names = new Names(async (host) => {
    asked.push(host);
    throw Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' });
  });
  const place = { host: 'plane.test', port: 1 };
  const [found, stun] = await Promise.all([reach(place, names), askStun([place], 4, names)]);
  expect(found).toEqual({
    address: 'plane.test:1',
    isReached: false,
    roundTripMs: null,
    trouble: 'no DNS server answers',
  });
  expect([stun.sights, asked]).toEqual([[], ['plane.test']]);
  expect(await names.unresolved()).toEqual([{ host: 'plane.test', trouble: 'no DNS server answers' }]);
});

test('a resolver that never answers is waited for 3 s', async () => {
  vi.useFakeTimers();
  const names = new Names(() => new Promise(() => {}));
  const found = reach({ host: 'plane.test', port: 1 }, names);
  await vi.advanceTimersByTimeAsync(3_000);
  vi.useRealTimers();
  expect((await found).trouble).toBe('no DNS server answers');
});

test('a port that is closed is named with the reason, an open one with its round trip', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const open = await reach({ host: '127.0.0.1', port });
  expect([open.isReached, open.trouble, typeof open.roundTripMs]).toEqual([true, '', 'number']);
  await new Promise((resolve) => server.close(resolve));
  expect(await reach({ host: '127.0.0.1', port })).toEqual({
    address: `127.0.0.1:${port}`,
    isReached: false,
    roundTripMs: null,
    trouble: 'ECONNREFUSED',
  });
});

test.each([
  ['Endpoint-independent mapping', [sight('a 3478', 9_000), sight('b 3478', 9_000)]],
  ['Mapping that depends on the destination', [sight('a 3478', 9_000), sight('b 3478', 9_001)]],
  ['Address-dependent mapping', [sight('a 3478', 9_000), sight('a 3479', 9_000), sight('b 3478', 9_001)]],
  ['Address- and port-dependent mapping', [sight('a 3478', 9_000), sight('a 3479', 9_001)]],
])('two servers tell %s', (name, sights) => {
  expect(natKindOf({ localPort: 4_000, sights }, NOBODY).detail).toMatch(new RegExp(`^${name} \\(RFC 4787\\)`));
});
