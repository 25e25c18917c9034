import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { credentialDigest } from '../../net/nats/credentials.ts';
import { type ListenerOptions, NatsListener } from '../../net/nats/listener.ts';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import type { Addresses } from '../lookup.ts';
import { openBus } from './bus.ts';

const SECRET = 'the credential of a test';
const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.stop();
});
const trusted = getCACertificates();
beforeAll(() => setDefaultCACertificates([...trusted, testCertificate.cert]));
afterAll(() => setDefaultCACertificates(trusted));

/** Greets with that INFO, and tells what the first client says, CONNECT and PING at most. */
async function fakeBus(info: object) {
  let tell: (heard: string) => void = () => {};
  const heard = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const server = createServer((socket: Socket) => {
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      if (text.includes('PING')) socket.destroy();
    });
    socket.on('close', () => tell(text));
    socket.write(
      `INFO ${JSON.stringify({ server_id: 'X', version: '2.9.10', proto: 1, max_payload: 1_000, ...info })}\r\n`,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ stop: () => server.close() });
  return { port: (server.address() as AddressInfo).port, heard };
}

async function realBus(options: Partial<ListenerOptions>): Promise<number> {
  const listener = new NatsListener({ host: '127.0.0.1', port: 0, auth: 'token', ...options });
  listener.broker.credentials.set({ id: 'p', digest: credentialDigest(SECRET), workspace: 'w', peer: 'p' });
  open.push(listener);
  return (await listener.start()).port;
}

/** A node on the bus; resolves when it is up or has said why it is not. */
async function node(url: string, { inClear = false, addresses }: { inClear?: boolean; addresses?: Addresses } = {}) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const bus = openBus({
    url,
    signIn: () => ({ secret: SECRET }),
    inClear,
    ...(addresses && { addresses }),
    inboxPrefix: '_INBOX.p',
    waitMs: 10_000,
    subjects: ['mesh.w.p.graph', 'mesh.w.p.signal'],
    log: silentLog,
    onMessage: () => {},
    onUp: resolve,
    onDown: () => {},
    onTrouble: resolve,
  });
  open.push({ stop: () => bus.close() });
  await promise;
  return bus;
}

test('a node whose bus is at tls:// says nothing to a server there that offers no TLS', async () => {
  const { port, heard } = await fakeBus({ auth_required: true });
  const bus = await node(`tls://127.0.0.1:${port}`);
  expect(await heard).toBe('');
  expect([bus.isUp, bus.trouble]).toEqual([
    false,
    `the bus at tls://127.0.0.1:${port} offers no TLS, so nothing was sent to it: give it a certificate, or a nats:// address`,
  ]);
});

// 0.0.0.0 leads to this machine and is no loopback address.
test('a node sends no credential in clear to a bus elsewhere, and says what to do', async () => {
  const { port, heard } = await fakeBus({ auth_required: true });
  void node(`nats://0.0.0.0:${port}`);
  expect(await heard).not.toContain(SECRET);
  const bus = await node(`nats://0.0.0.0:${await realBus({})}`);
  expect(bus.trouble).toContain(
    'give the control plane a certificate (MESH_TLS_CERT), or start this node with --bus-in-clear',
  );
});

test('a node signs in in clear where it is told to, and to its own machine', async () => {
  const port = await realBus({});
  const buses = [await node(`nats://0.0.0.0:${port}`, { inClear: true }), await node(`nats://127.0.0.1:${port}`)];
  expect(buses.map(({ isUp }) => isUp)).toEqual([true, true]);
});

test('a node signs in over TLS to a bus whose certificate names its address, and to no other', async () => {
  const port = await realBus({ tls: testCertificate });
  const buses = [
    await node(`tls://127.0.0.1:${port}`),
    await node(`tls://localhost:${port}`),
    await node(`tls://0.0.0.0:${port}`),
  ];
  expect(buses.map(({ isUp }) => isUp)).toEqual([true, true, false]);
  expect(buses[2]?.trouble).toContain("IP: 0.0.0.0 is not in the cert's list");
});

test('a node without a credential is on the open bus as ever', async () => {
  const bus = await node(`nats://0.0.0.0:${await realBus({ auth: 'open' })}`);
  expect(bus.isUp).toBe(true);
});

test('a node reaches its bus at the last address while DNS is away, and over TLS by the certificate of its name', async () => {
  const asked: string[] = [];
  const addresses: Addresses = {
    lookup: () => Promise.reject(new Error('away')),
    async lastWhileAway(host) {
      asked.push(host);
      return [{ address: '127.0.0.1', family: 4 }];
    },
  };
  const clear = await node(`nats://bus.invalid:${await realBus({ auth: 'open' })}`, { addresses });
  const port = await realBus({ tls: testCertificate });
  const overTls = [
    await node(`tls://localhost:${port}`, { addresses }),
    await node(`tls://bus.invalid:${port}`, { addresses }),
  ];
  expect([clear, ...overTls].map(({ isUp }) => isUp)).toEqual([true, true, false]);
  expect(asked.slice(0, 2)).toEqual(['bus.invalid', 'localhost']);
});
