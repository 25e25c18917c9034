import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { decode, encode, streamDecode, streamEncode } from 'dns-packet';
import { expect, onTestFinished, test, vi } from 'vitest';
import { graphOf } from '../agent/overlay.testkit.ts';
import { listenForQueries } from './listener.ts';
import { NameService } from './name-service.ts';
import type { HostResolver } from './resolvers/resolver.ts';
import { zoneOf } from './zone.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };
const graph = (names: readonly string[], workspace: string | undefined = 'prod') =>
  graphOf(names, {
    self: { ...graphOf([]).self, address: '127.0.0.1', cidr: '127.0.0.0/24', ...(workspace && { workspace }) },
  });
const QUERY = { id: 9, questions: [{ name: 'db.prod.mesh.internal', type: 'A' as const }] };

function resolverThatRecords(name: string, isHere: boolean, calls: string[]): HostResolver {
  return {
    name,
    isHere: async () => isHere,
    set: async ({ interfaceName, address, domain }) => {
      calls.push(`${name} set ${interfaceName} ${domain} ${address}`);
    },
    unset: async (interfaceName) => {
      calls.push(`${name} unset ${interfaceName}`);
    },
  };
}

function serviceWith(resolvers: readonly HostResolver[], port = 0) {
  const service = new NameService({ interfaceName: 'mesh0', resolvers, log, port });
  onTestFinished(() => service.close());
  return service;
}

async function overUdp(server: string, address = '127.0.0.1') {
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  await new Promise<void>((resolve) => socket.bind({ address, port: 0 }, resolve));
  socket.send(encode(QUERY), Number(server.split(':')[1]), '127.0.0.1');
  return socket;
}

test('names are served over UDP and TCP, and the resolver of the host is told once', async () => {
  const calls: string[] = [];
  const service = serviceWith([resolverThatRecords('first', false, calls), resolverThatRecords('second', true, calls)]);
  service.use(graph(['web']));
  service.use(graph(['db']));
  await expect.poll(() => service.status.resolver).toBe('second');
  const { server, domain } = service.status;
  expect([domain, service.status.trouble]).toEqual(['prod.mesh.internal', '']);
  const [bytes] = await once(await overUdp(server ?? ''), 'message');
  expect(decode(bytes).answers).toMatchObject([{ data: '10.96.0.2' }]);
  const tcp = connect(Number(server?.split(':')[1]), '127.0.0.1');
  const query = streamEncode(QUERY);
  // A message in three pieces, and another behind it.
  for (const piece of [query.subarray(0, 1), query.subarray(1, 9), query.subarray(9)]) tcp.write(piece);
  const [answer] = await once(tcp, 'data');
  expect(streamDecode(answer)?.answers).toMatchObject([{ data: '10.96.0.2' }]);
  tcp.destroy();
  service.use(graph(['db', 'more']));
  await service.close();
  expect(calls).toEqual([
    'first unset mesh0',
    'second unset mesh0',
    'second set mesh0 prod.mesh.internal 127.0.0.1',
    'second unset mesh0',
  ]);
  expect(service.status).toMatchObject({ domain: null, server: null, resolver: null });
});

test('a service that ends while it begins to listen warns of nothing', async () => {
  const warnings: string[] = [];
  const told = { ...log, warn: (_facts: object, text: string) => void warnings.push(text) };
  const service = new NameService({ interfaceName: 'mesh0', resolvers: [], log: told, port: 0 });
  service.use(graph(['db']));
  await service.close();
  expect([warnings, service.status.trouble]).toEqual([[], '']);
});

test('a resolver that programs do not ask is trouble until they do, and is told all the same', async () => {
  let unasked = 'programs here ask another';
  const calls: string[] = [];
  const service = serviceWith([{ ...resolverThatRecords('one', true, calls), unasked: () => unasked }]);
  service.use(graph(['db']));
  await expect.poll(() => service.status.resolver).toBe('one');
  expect(calls).toContain('one set mesh0 prod.mesh.internal 127.0.0.1');
  expect(service.status.trouble).toBe('programs here ask another');
  unasked = '';
  expect(service.status.trouble).toBe('');
});

test('a link that went and came back is told of again', async () => {
  const calls: string[] = [];
  const service = serviceWith([resolverThatRecords('one', true, calls)]);
  const sets = () => calls.filter((call) => call.startsWith('one set')).length;
  service.use(graph(['db']));
  await expect.poll(sets).toBe(1);
  service.use(undefined);
  service.use(graph(['db']));
  await expect.poll(sets).toBe(2);
});

test('a host that cannot ask for some names alone gets the line for its own resolver', async () => {
  const service = serviceWith([]);
  service.use(graph(['db']));
  await expect.poll(() => service.status.trouble).not.toBe('');
  expect(service.status.trouble).toContain('server=/prod.mesh.internal/127.0.0.1');
  expect(service.status.trouble).toContain('put nameserver 127.0.0.1 first in /etc/resolv.conf');
  expect(service.status.server).not.toBeNull();
});

test('a port that another program has is named, with the way out', async () => {
  const held = createSocket('udp4');
  onTestFinished(() => void held.close());
  await new Promise<void>((resolve) => held.bind({ address: '127.0.0.1', port: 0 }, resolve));
  const service = serviceWith([], held.address().port);
  service.use(graph(['db']));
  await expect.poll(() => service.status.trouble).not.toBe('');
  expect(service.status.trouble).toMatch(/another program has it; the option --no-dns does without$/);
});

test('an older control plane is named as the reason why there are no names', async () => {
  const service = serviceWith([]);
  service.use(graph(['db'], ''));
  await expect.poll(() => service.status.trouble).not.toBe('');
  expect(service.status.trouble).toContain('newer control plane');
});

test('who has another address than this node is not answered', async () => {
  const zone = zoneOf(graph(['db']));
  if (!zone) throw new Error('no zone');
  const listener = await listenForQueries({ address: '127.0.0.1', port: 0, zone: () => zone });
  onTestFinished(() => listener.close());
  const stranger = await overUdp(`127.0.0.1:${listener.port}`, '127.0.0.2');
  let heard = 0;
  stranger.on('message', () => {
    heard += 1;
  });
  const tcp = connect({ port: listener.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  tcp.on('error', () => {});
  tcp.write(streamEncode(QUERY));
  await once(tcp, 'close');
  // A later query is answered: it was seen.
  await once(await overUdp(`127.0.0.1:${listener.port}`), 'message');
  expect([heard, tcp.bytesRead]).toEqual([0, 0]);
});

/** To a listener of its own. */
async function connections() {
  const zone = zoneOf(graph(['db']));
  if (!zone) throw new Error('no zone');
  const listener = await listenForQueries({ address: '127.0.0.1', port: 0, zone: () => zone });
  onTestFinished(() => listener.close());
  const opened = async () => {
    const tcp = connect(listener.port, '127.0.0.1');
    tcp.on('error', () => {});
    await once(tcp, 'connect');
    return tcp;
  };
  const answered = async (tcp: Socket) => {
    tcp.write(streamEncode(QUERY));
    await once(tcp, 'data');
  };
  return { opened, answered };
}

test('who holds all connections keeps nobody out: the one that was answered longest ago makes room', async () => {
  const { opened, answered } = await connections();
  const busy = await opened();
  const idle = [];
  for (let count = 0; count < 15; count += 1) idle.push(await opened());
  await answered(busy);
  const first = idle[0] && once(idle[0], 'close');
  await answered(await opened());
  await first;
  await answered(busy);
  expect(idle.map(({ destroyed }) => destroyed).filter((isGone) => isGone)).toHaveLength(1);
});

test('a connection ends five seconds after its last answer, and what trickles in does not extend it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { opened, answered } = await connections();
  const slow = await opened();
  await answered(slow);
  vi.advanceTimersByTime(4_999);
  await answered(slow);
  const ended = once(slow, 'close');
  for (const [byte, ms] of [
    [0, 2_500],
    [1, 2_499],
  ] as const) {
    slow.write(streamEncode(QUERY).subarray(byte, byte + 1));
    // A later query is answered: it was seen.
    const other = await opened();
    await answered(other);
    other.destroy();
    vi.advanceTimersByTime(ms);
  }
  expect(slow.closed).toBe(false);
  vi.advanceTimersByTime(1);
  await ended;
});
