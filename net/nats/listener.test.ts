import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { connect, headers, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { credentialDigest } from './credentials.ts';
import { type ListenerOptions, NatsListener } from './listener.ts';
import { testCertificate } from './test-certificate.ts';

/** A loaded machine is slow; a test that hangs still ends. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } });
/** The client gives up after a second by itself. */
const ASK = { timeout: 60_000 };

const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(options: Partial<ListenerOptions> = {}): Promise<{ listener: NatsListener; port: number }> {
  const listener = new NatsListener({ host: '127.0.0.1', port: 0, auth: 'open', ...options });
  const { port } = await listener.start();
  open.push(() => listener.stop());
  return { listener, port };
}

async function client(port: number, options: NodeConnectionOptions = {}): Promise<NatsConnection> {
  const connection = await connect({ servers: `127.0.0.1:${port}`, ...options });
  open.push(() => connection.close());
  return connection;
}

async function raw(port: number): Promise<Socket> {
  const socket = connectSocket(port, '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'data');
  return socket;
}

async function heardUntilClosed(socket: Socket): Promise<string> {
  let heard = '';
  socket.on('data', (bytes) => {
    heard += bytes.toString('latin1');
  });
  await once(socket, 'close');
  return heard;
}

describe('the official client', () => {
  it('publishes and subscribes with wildcards', async () => {
    const { port } = await start();
    const [a, b] = [await client(port), await client(port)];
    const subscription = a.subscribe('mesh.*.>', { max: 2 });
    await a.flush();
    b.publish('mesh.w1.p1.signal', 'one');
    b.publish('mesh.w2.p2', 'two');
    const got: string[] = [];
    for await (const message of subscription) got.push(`${message.subject} ${message.string()}`);
    expect(got).toEqual(['mesh.w1.p1.signal one', 'mesh.w2.p2 two']);
  });

  it('requests and replies, and hears at once when nobody listens', async () => {
    const { port } = await start();
    const [a, b] = [await client(port), await client(port)];
    a.subscribe('double', {
      callback: (_error, message) => void message.respond(String(Number(message.string()) * 2)),
    });
    await a.flush();
    const answers = await Promise.all(Array.from({ length: 64 }, (_, at) => b.request('double', String(at), ASK)));
    expect(answers.map((answer) => Number(answer.string()))).toEqual(Array.from({ length: 64 }, (_, at) => at * 2));
    await expect(b.request('nobody', '')).rejects.toThrow(/no responders/);
  });

  it('sends headers', async () => {
    const { port } = await start();
    const connection = await client(port);
    const subscription = connection.subscribe('a', { max: 1 });
    const sent = headers();
    sent.set('Trace', 'x1');
    connection.publish('a', 'body', { headers: sent });
    for await (const message of subscription) {
      expect([message.headers?.get('Trace'), message.string()]).toEqual(['x1', 'body']);
    }
  });

  it('shares work in queue groups', async () => {
    const { port } = await start();
    const workers = await Promise.all([client(port), client(port), client(port)]);
    const counts = [0, 0, 0];
    for (const [at, worker] of workers.entries()) {
      const callback = () => {
        counts[at] = (counts[at] ?? 0) + 1;
      };
      worker.subscribe('jobs', { queue: 'q', callback });
      await worker.flush();
    }
    const boss = await client(port);
    for (let job = 0; job < 300; job++) boss.publish('jobs');
    await boss.flush();
    await expect.poll(() => counts.reduce((sum, count) => sum + count)).toBe(300);
    expect(Math.min(...counts)).toBeGreaterThan(50);
  });

  it('drains: what was sent before arrives, then it closes', async () => {
    const { port } = await start();
    const [a, b] = [await client(port), await client(port)];
    let got = 0;
    a.subscribe('a', { callback: () => void got++ });
    await a.flush();
    for (let at = 0; at < 5_000; at++) b.publish('a', 'x');
    await b.drain();
    await a.drain();
    expect([got, a.isClosed(), b.isClosed()]).toEqual([5_000, true, true]);
  });

  it('carries payloads of every size up to the limit', async () => {
    const { port } = await start();
    const connection = await client(port);
    const sizes = [0, 1, 4_095, 4_096, 65_535, 65_536, 300_000, 1_048_576];
    const subscription = connection.subscribe('a', { max: sizes.length });
    for (const size of sizes) connection.publish('a', new Uint8Array(size).fill(size % 251));
    const got: boolean[] = [];
    for await (const { data } of subscription) {
      const size = sizes[got.length] ?? -1;
      got.push(data.length === size && data.every((byte) => byte === size % 251));
    }
    expect(got).toEqual(sizes.map(() => true));
  });

  it('reconnects when the broker comes back on the same port, with its subscriptions', async () => {
    const first = await start();
    const connection = await client(first.port, { reconnectTimeWait: 20, maxReconnectAttempts: -1 });
    const subscription = connection.subscribe('a', { max: 1 });
    await connection.flush();
    await first.listener.stop();
    await start({ port: first.port });
    const other = await client(first.port);
    const got: string[] = [];
    const reading = (async () => {
      for await (const message of subscription) got.push(message.string());
    })();
    await expect
      .poll(() => {
        other.publish('a', 'back');
        return got;
      })
      .toEqual(['back']);
    await reading;
  });

  it('moves to another broker when this one goes lame', async () => {
    const [one, two] = [await start(), await start()];
    const connection = await client(one.port, {
      servers: [`127.0.0.1:${one.port}`, `127.0.0.1:${two.port}`],
      noRandomize: true,
      reconnectTimeWait: 20,
    });
    await one.listener.lameDuck(50);
    await expect.poll(() => connection.getServer()).toBe(`127.0.0.1:${two.port}`);
  });

  it('learns that a subject is guarded', async () => {
    const { port } = await start();
    const connection = await client(port);
    const subscription = connection.subscribe('mesh.control.>', { callback: () => {} });
    await expect(subscription.closed).resolves.toMatchObject({
      message: expect.stringContaining('Permissions Violation'),
    });
  });

  it('connects with a credential and not without', async () => {
    const { listener, port } = await start({ auth: 'token' });
    listener.broker.credentials.set({ id: 'c', digest: credentialDigest('s3'), workspace: 'w', peer: 'p' });
    const node = await client(port, { token: 's3' });
    const graph = node.subscribe('mesh.w.p.graph', { max: 1 });
    await node.flush();
    listener.handleControl(Buffer.from('PUB mesh.w.p.graph 3\r\nmap\r\n'));
    for await (const message of graph) expect(message.string()).toBe('map');
    await expect(client(port, { token: 'guess' })).rejects.toThrow(/Authorization Violation/);
    await expect(client(port)).rejects.toThrow(/Authorization Violation/);
  });

  it('speaks TLS when a certificate is configured, and hears one that goes on in clear on the open bus', async () => {
    const { port } = await start({ tls: testCertificate });
    const options = { servers: `localhost:${port}`, tls: { ca: testCertificate.cert } };
    const [a, b] = [await client(port, options), await client(port, { tls: null })];
    expect([a.info?.tls_available, a.info?.tls_required]).toEqual([true, undefined]);
    a.subscribe('echo', { callback: (_error, message) => void message.respond(message.data) });
    await a.flush();
    const large = 'x'.repeat(500_000);
    expect((await b.request('echo', large, ASK)).string()).toBe(large);
    await expect(client(port)).rejects.toThrow(/self-signed certificate/);
  });

  it('must speak TLS where its credential would travel in clear', async () => {
    const { listener, port } = await start({ tls: testCertificate, auth: 'token' });
    listener.broker.credentials.set({ id: 'c', digest: credentialDigest('s3'), workspace: 'w', peer: 'p' });
    const options = { servers: `localhost:${port}`, token: 's3', tls: { ca: testCertificate.cert } };
    const secure = await client(port, options);
    expect(secure.info?.tls_required).toBe(true);
    await secure.flush();
  });

  it('1,000 of them hear every message of a fan-out', async () => {
    const { listener, port } = await start();
    const clients = await Promise.all(Array.from({ length: 1_000 }, () => client(port)));
    let got = 0;
    for (const connection of clients) connection.subscribe('news', { callback: () => void got++ });
    await Promise.all(clients.map((connection) => connection.flush()));
    const publisher = await client(port);
    for (let at = 0; at < 10; at++) publisher.publish('news', 'x'.repeat(256));
    await publisher.flush();
    await expect.poll(() => got).toBe(10_000);
    expect(listener.broker.snapshot()).toMatchObject({ connections: 1_001, subscriptions: 1_000 });
    await Promise.all(clients.map((connection) => connection.close()));
    await expect.poll(() => listener.broker.snapshot()).toMatchObject({ connections: 1, subscriptions: 0 });
  });
});

describe('raw connections', () => {
  it('hear why before the close, even with much unread behind it', async () => {
    const { port } = await start();
    const socket = await raw(port);
    const heard = heardUntilClosed(socket);
    socket.write(Buffer.concat([Buffer.from('PUB a 2000000\r\n'), Buffer.alloc(2_000_000, 'x')]));
    expect(await heard).toBe("-ERR 'Maximum Payload Violation'\r\n");
  });

  it('that stop sending still hear the answers', async () => {
    const { port } = await start();
    const socket = await raw(port);
    const heard = heardUntilClosed(socket);
    socket.end('SUB a 1\r\nPUB a 2\r\nhi\r\nPING\r\n');
    expect(await heard).toBe('+OK\r\n+OK\r\nMSG a 1 2\r\nhi\r\nPONG\r\n');
  });

  it('that speak no NATS hear so and are closed', async () => {
    const { port } = await start();
    const socket = await raw(port);
    const heard = heardUntilClosed(socket);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    expect(await heard).toBe("-ERR 'Unknown Protocol Operation'\r\n");
  });

  it('one that stops reading is cut off while the others get everything', async () => {
    const { listener, port } = await start({ limits: { maxPending: 3_000_000 } });
    const frozen = await raw(port);
    frozen.pause();
    frozen.write('SUB a 1\r\nPING\r\n');
    const well = await client(port);
    let got = 0;
    well.subscribe('a', { callback: () => void got++ });
    await well.flush();
    await expect.poll(() => listener.broker.snapshot().subscriptions).toBe(2);
    const publisher = await client(port);
    const payload = new Uint8Array(65_536);
    let sent = 0;
    while (listener.broker.metrics.slow_consumers_total === 0 && sent < 1_000) {
      publisher.publish('a', payload);
      sent++;
      if (sent % 10 === 0) await publisher.flush();
    }
    await publisher.flush();
    await expect.poll(() => got).toBe(sent);
    expect(listener.broker.snapshot()).toMatchObject({ slow_consumers_total: 1, connections: 2, pending_bytes: 0 });
  });

  it('that close half way through a message leave nothing behind', async () => {
    const { listener, port } = await start();
    const socket = await raw(port);
    socket.end('SUB a 1\r\nPUB a 100\r\nhalf');
    await once(socket, 'close');
    await expect
      .poll(() => listener.broker.snapshot())
      .toMatchObject({ connections: 0, subscriptions: 0, partial_bytes: 0 });
  });

  it('in clear are closed where TLS is required', async () => {
    const { port } = await start({ tls: testCertificate, auth: 'token' });
    const socket = await raw(port);
    socket.write('PING\r\n');
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });

  it('that only begin like TLS end their own connection and no other', async () => {
    const { listener, port } = await start({ tls: testCertificate });
    const other = await client(port, { tls: null });
    const socket = await raw(port);
    socket.write('\x16\x03\x01 no handshake at all');
    await once(socket, 'close');
    const early = await raw(port);
    early.end();
    await once(early, 'close');
    await other.flush();
    await expect.poll(() => listener.broker.snapshot().connections).toBe(1);
  });
});
