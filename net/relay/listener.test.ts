import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { testCertificate } from '../nats/test-certificate.ts';
import { generateKeyPair, type KeyPair } from '../seal/x25519.ts';
import { RelayClient, type RelayClientEvent } from './client.ts';
import { RelayControl } from './control.ts';
import { decodeCredential, mintCredential, relayKeysOf, workspaceTagOf } from './credential.ts';
import { peerIdOf } from './frame.ts';
import { STREAM_CORPUS } from './fuzz-corpus.testkit.ts';
import { RelayListener, type RelayListenerOptions } from './listener.ts';

const TOKEN = 'shared-token';
const HOUR_MS = 3_600_000;
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

describe('relay over sockets', () => {
  test('two nodes exchange packets, also over TLS', async () => {
    for (const tls of [undefined, testCertificate]) {
      const { node } = await relay(tls && { tls });
      const [a, b] = [await node(), await node()];
      a.forward(b, 'there');
      b.forward(a, 'and back');
      await expect.poll(() => [...a.packets, ...b.packets]).toEqual(['and back', 'there']);
    }
  });

  test('a frozen receiver holds its cap and costs the others not one frame', async () => {
    const { node, listener } = await relay({ limits: { queueBytes: 65_536 } });
    const [sender, frozen, healthy] = [await node(), await node(), await node()];
    frozen.socket.pause();
    const payload = 'x'.repeat(60_000);
    // Until the kernel's buffers are full and the relay's own cap is what holds the rest back.
    while (listener.metrics().dropped['queue-full'] === 0) {
      sender.forward(frozen, payload);
      await sender.drained();
    }
    for (let n = 0; n < 200; n++) {
      sender.forward(frozen, payload);
      sender.forward(healthy, `${n}`);
    }
    await expect.poll(() => healthy.packets).toEqual(Array.from({ length: 200 }, (_, n) => `${n}`));
    expect(listener.metrics().queuedBytes).toBeLessThanOrEqual(65_536);
  });

  test('a revoked node is cut off, even one that reads nothing', async () => {
    const { node, listener } = await relay({ limits: { queueBytes: 65_536 } });
    const [sender, frozen, listening] = [await node(), await node(), await node()];
    frozen.socket.pause();
    while (listener.metrics().dropped['queue-full'] === 0) {
      sender.forward(frozen, 'x'.repeat(60_000));
      await sender.drained();
    }
    for (const { pair } of [frozen, listening]) listener.revoke(memberOf(pair), HOUR_MS);
    await expect.poll(() => listener.metrics().sessions).toBe(1);
    await expect.poll(() => listening.log.at(-1)).toBe('closed revoked');
  });

  test('a control plane elsewhere revokes a node over its own connection', async () => {
    const { node, port } = await relay();
    const { pair, log, closed } = await node();
    const control = new RelayControl(relayKeysOf(TOKEN));
    const socket = connectTo(port);
    const heard: string[] = [];
    socket.on('data', (chunk) => {
      for (const event of control.receive(chunk)) {
        heard.push(event.type);
        if (event.type === 'send') socket.write(event.bytes);
        if (event.type === 'ready') socket.write(control.revoke(memberOf(pair), HOUR_MS));
      }
    });
    socket.write(control.start());
    await closed;
    await expect.poll(() => heard).toEqual(['send', 'ready', 'revoked']);
    expect(log).toEqual(['ready', 'closed revoked']);
  });

  test('a stop tells clients to move and returns when they have gone', async () => {
    const { node, listener } = await relay({ drainMs: 60_000 });
    const nodes = [await node(), await node()];
    for (const { socket, log } of nodes) socket.on('data', () => log.includes('move') && socket.destroy());
    await listener.stop();
    expect(nodes.map(({ log }) => log)).toEqual([
      ['ready', 'move'],
      ['ready', 'move'],
    ]);
  });

  test('a stop does not wait for clients that stay', async () => {
    const { node, listener } = await relay({ drainMs: 10 });
    const { closed } = await node();
    await listener.stop();
    await closed;
    await listener.stop();
  });

  test('any bytes on the port leave the relay working', async () => {
    const { node, port, listener } = await relay({ limits: { closeMs: 10 } });
    for (const { hex } of STREAM_CORPUS) connectTo(port).end(Buffer.from(hex, 'hex'));
    const reset = connectTo(port);
    reset.on('connect', () => reset.resetAndDestroy());
    const [a, b] = [await node(), await node()];
    a.forward(b, 'fine');
    await expect.poll(() => b.packets).toEqual(['fine']);
    await expect.poll(() => listener.metrics().sessions).toBe(2);
  });

  test('plain bytes on a TLS port leave the relay working', async () => {
    const { node, port } = await relay({ tls: testCertificate });
    connectTo(port).end('no TLS at all');
    const a = await node();
    expect(a.log).toEqual(['ready']);
  });

  test.each([
    ['plain', undefined],
    ['TLS', testCertificate],
  ])('silent connections to a %s port count, and a node comes in all the same', async (_, tls) => {
    const limits = { unproven: { total: 4, perHost: 4, perSite: 4 }, closeMs: 10 };
    const { node, port, listener } = await relay({ limits, ...(tls && { tls }) });
    for (let n = 0; n < 20; n++) connectTo(port);
    await expect.poll(() => listener.metrics().ended.limit).toBe(16);
    expect((await node()).log).toEqual(['ready']);
  });

  test('the token and the credential are in no log line', async () => {
    const lines: string[] = [];
    const write = (fields: object, message: string) => void lines.push(JSON.stringify(fields) + message);
    const { node, listener } = await relay({ log: { error: write, warn: write, info: write, debug: write } });
    const { pair, closed } = await node();
    listener.revoke(memberOf(pair), HOUR_MS);
    await closed;
    expect(lines).toEqual(['{"ended":1}A relay key was revoked.', '{"reason":"revoked"}A relay session ends.']);
  });

  test('a port that is taken is reported by start', async () => {
    const { port } = await relay();
    const second = new RelayListener({ host: '127.0.0.1', port, token: TOKEN, clock: { now: () => 0 } });
    await expect(second.start()).rejects.toThrow('EADDRINUSE');
  });
});

async function relay(options: Partial<RelayListenerOptions> = {}) {
  const clock = { now: () => 1_000 };
  const listener = new RelayListener({ host: '127.0.0.1', port: 0, token: TOKEN, clock, drainMs: 0, ...options });
  const { port } = await listener.start();
  undo.push(() => listener.stop());
  const node = (pair = generateKeyPair()) =>
    joined(pair, options.tls ? connectTls({ port, rejectUnauthorized: false }) : connect(port, '127.0.0.1'));
  return { listener, port, node };
}

const memberOf = ({ publicKey }: KeyPair) => ({ workspace: workspaceTagOf('w_1'), publicKey });

async function joined(pair: KeyPair, socket: Socket) {
  const grant = { workspace: workspaceTagOf('w_1'), publicKey: pair.publicKey, expiresAt: HOUR_MS };
  const credential = decodeCredential(mintCredential(relayKeysOf(TOKEN), grant)) ?? new Uint8Array();
  const client = new RelayClient(pair, { credential });
  undo.push(() => socket.destroy());
  const node = {
    pair,
    socket,
    id: peerIdOf(pair.publicKey),
    packets: [] as string[],
    log: [] as string[],
    closed: new Promise<void>((resolve) => socket.once('close', () => resolve())),
    forward(to: { readonly id: bigint }, text: string) {
      const frame = client.forward(to.id, Buffer.from(text));
      if (frame) socket.write(frame);
    },
    drained: () =>
      socket.writableNeedDrain ? new Promise<void>((resolve) => socket.once('drain', resolve)) : Promise.resolve(),
  };
  const take = (event: RelayClientEvent) => {
    if (event.type === 'send') socket.write(event.bytes);
    else if (event.type === 'forward') node.packets.push(Buffer.from(event.packets).toString());
    else node.log.push(event.type === 'closed' ? `closed ${event.reason}` : event.type);
  };
  socket.on('error', () => {});
  socket.on('data', (chunk) => client.receive(chunk, 0).forEach(take));
  socket.write(client.start(0));
  await expect.poll(() => node.log).toEqual(['ready']);
  return node;
}

function connectTo(port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  undo.push(() => socket.destroy());
  return socket;
}
