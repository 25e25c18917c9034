import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { mintCredential, relayKeysOf, workspaceTagOf } from '../../net/relay/credential.ts';
import { peerIdOf } from '../../net/relay/frame.ts';
import { RelayListener } from '../../net/relay/listener.ts';
import { encodeMessage } from '../../net/relay/message.ts';
import { generateKeyPair, type KeyPair } from '../../net/seal/x25519.ts';
import { askDns } from '../lookup.ts';
import { RelayLink } from './link.ts';

const TOKEN = 'relay-token-of-this-test';
const clock = { now: () => Date.now() };
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

describe('the link to the relay', () => {
  it('carries packets to another node and back, in order', async () => {
    const { port } = await startRelay();
    const [one, two] = [node(), node()];
    for (const { link, use } of [one, two]) {
      use(port);
      await expect.poll(() => link.state).toBe('ready');
    }
    for (let n = 0; n < 100; n++) expect(one.link.forward(two.id, Uint8Array.of(4, n), 0)).toBeUndefined();
    await expect.poll(() => two.packets.length).toBe(100);
    expect(two.packets).toEqual(Array.from({ length: 100 }, (_, n) => `${one.id} 4,${n}`));
    two.link.forward(one.id, Uint8Array.of(1), 0);
    await expect.poll(() => one.packets).toEqual([`${two.id} 1`]);
  });

  it('coalesces packets for a peer that is known to take them so, and sends them apart before', async () => {
    const { port } = await startRelay();
    const [one, two] = [node(), node()];
    for (const { link, use } of [one, two]) {
      use(port);
      await expect.poll(() => link.state).toBe('ready');
    }
    const burst = Uint8Array.of(4, 1, 4, 2, 4);
    one.link.forward(two.id, burst, 2);
    await expect.poll(() => two.packets).toEqual([`${one.id} 4,1`, `${one.id} 4,2`, `${one.id} 4`]);
    two.link.forward(one.id, Uint8Array.of(9), 0);
    await expect.poll(() => one.packets).toEqual([`${two.id} 9`]);
    one.link.forward(two.id, burst, 2);
    await expect.poll(() => two.packets.at(-1)).toBe(`${one.id} 4,1,4,2,4 by 2`);
    expect([one.link.sent.packets, two.link.received.packets]).toEqual([6, 6]);
    one.link.forward(12_345n, burst, 2);
    one.link.close();
    one.link.forward(two.id, burst, 2);
    expect(one.link.dropped['relay-away']).toBe(3);
  });

  it('remembers of nobody but its peers that they take packets coalesced, whoever a relay names', async () => {
    const { port } = await startRelay();
    const [one, two] = [node({ isPeer: () => false }), node()];
    for (const { link, use } of [one, two]) {
      use(port);
      await expect.poll(() => link.state).toBe('ready');
    }
    two.link.forward(one.id, Uint8Array.of(9), 0);
    await expect.poll(() => one.packets).toEqual([`${two.id} 9`]);
    one.link.forward(two.id, Uint8Array.of(4, 1, 4, 2), 2);
    await expect.poll(() => two.packets).toEqual([`${one.id} 4,1`, `${one.id} 4,2`]);
  });

  it('knows who is at the relay', async () => {
    const { port } = await startRelay();
    const [one, two, three] = [node(), node(), node()];
    one.use(port);
    two.use(port);
    await expect.poll(() => [one.link.state, two.link.state]).toEqual(['ready', 'ready']);
    one.link.probe(two.id);
    one.link.probe(three.id);
    await expect.poll(() => one.probed).toEqual([`${two.id} true`, `${three.id} false`]);
  });

  it('comes back after the relay restarted', async () => {
    const first = await startRelay();
    const one = node();
    one.use(first.port);
    await expect.poll(() => one.link.state).toBe('ready');
    await first.relay.stop();
    await expect.poll(() => one.link.state).not.toBe('ready');
    expect(one.link.forward(1n, Uint8Array.of(4), 0)).toBe('relay-away');
    await startRelay(first.port);
    await expect.poll(() => one.link.state, { timeout: 10_000 }).toBe('ready');
    expect([one.readies, one.link.dropped['relay-away']]).toEqual([2, 1]);
  });

  it('does not come back at once to a relay that refuses it, but does with another credential', async () => {
    const { port } = await startRelay();
    const one = node();
    one.link.use({ host: '127.0.0.1', port, secure: false, credential: credentialOf(one.pair, 'another token') });
    await expect.poll(() => one.link.reason).toBe('bad-credential');
    one.use(port);
    await expect.poll(() => one.link.state).toBe('ready');
  });

  it('renews its session with the credential of a newer graph', async () => {
    const { port, relay } = await startRelay();
    const one = node();
    one.use(port);
    await expect.poll(() => one.link.state).toBe('ready');
    one.use(port, Date.now() + 7_200_000);
    await expect.poll(() => one.readies).toBe(2);
    expect(relay.metrics().sessions).toBe(1);
  });

  it('drops instead of queueing when the relay does not read', async () => {
    const { port } = await startRelay();
    const one = node();
    one.use(port);
    await expect.poll(() => one.link.state).toBe('ready');
    const packet = new Uint8Array(1_400).fill(4);
    // Within one turn of the event loop the relay, in this process, reads nothing: 28 MB are more than the kernel takes.
    const results = Array.from({ length: 20_000 }, () => one.link.forward(1n, packet, 0));
    expect(results.at(-1)).toBe('queue-full');
    expect(one.link.dropped['queue-full']).toBe(results.filter((drop) => drop === 'queue-full').length);
    expect(one.link.forward(1n, new Uint8Array(70_000), 0)).toBe('too-large');
  });

  it('survives a server that is no relay', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    const one = node();
    one.use(await listening(server));
    await expect.poll(() => one.link.reason).toBe('protocol');
    expect(one.link.state).toBe('away');
  });

  it.each([0, 600, 0x7fffffff, 0xffffffff])('a relay that says to return after %i ms is held to bounds', async (ms) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end(encodeMessage({ type: 'bye', reason: 'limit', retryAfterMs: ms }));
    });
    const one = node();
    one.use(await listening(server));
    await expect.poll(() => one.waits).toEqual([Math.min(Math.max(ms, 250), 60_000)]);
    expect(one.link.reason).toBe('limit');
  });

  it('waits longer each time for a relay that lets it in and ends the session at once', async () => {
    const { port } = await startRelay();
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      const onward = connect({ host: '127.0.0.1', port });
      for (const end of [socket, onward]) end.on('error', () => {});
      sockets.push(socket);
      socket.pipe(onward).pipe(socket);
    });
    const one = node({ onReady: () => sockets.at(-1)?.destroy() });
    one.use(await listening(proxy));
    // It goes on.
    await expect.poll(() => one.waits.slice(0, 3)).toEqual([250, 500, 500]);
  });

  it('tells that a relay takes its credential for used up', async () => {
    const { port } = await startRelay();
    const one = node();
    one.use(port, Date.now() - 1);
    await expect.poll(() => one.expired).toBe(1);
    expect([one.link.reason, one.waits]).toEqual(['credential-expired', [60_000]]);
    one.use(port, Date.now() - 2);
    await expect.poll(() => one.waits).toEqual([60_000, 60_000]);
    expect(one.expired).toBe(1);
  });

  it('gives a session up that brings packets of peers and no echo: nothing of this node arrives', async () => {
    const { port } = await startRelay();
    const [one, two] = [node(), node()];
    let isBlocked = false;
    const proxy = createServer((socket) => {
      const onward = connect({ host: '127.0.0.1', port });
      for (const end of [socket, onward]) end.on('error', () => {});
      socket.on('data', (chunk) => isBlocked || onward.write(chunk));
      onward.pipe(socket);
      socket.on('close', () => onward.destroy());
    });
    one.use(await listening(proxy));
    two.use(port);
    await expect.poll(() => [one.link.state, two.link.state]).toEqual(['ready', 'ready']);
    isBlocked = true;
    const state = () => {
      one.link.forward(two.id, Uint8Array.of(1), 0);
      two.link.forward(one.id, Uint8Array.of(2), 0);
      one.skipMs += 500;
      return one.link.reason;
    };
    await expect.poll(state, { timeout: 10_000 }).toBe('silent');
    expect(one.packets.length).toBeGreaterThan(10);
    expect(two.packets).toEqual([]);
  });

  it('never tells its credential', async () => {
    const one = node();
    one.use(1);
    expect(one.link.address).toBe('lrp://127.0.0.1:1');
  });
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function startRelay(port = 0) {
  const relay = new RelayListener({ host: '127.0.0.1', port, token: TOKEN, clock, drainMs: 50 });
  const address = await relay.start();
  cleanUps.push(() => relay.stop());
  return { relay, port: address.port };
}

function credentialOf({ publicKey }: KeyPair, token: string, expiresAt = Date.now() + 3_600_000): string {
  return mintCredential(relayKeysOf(token), { workspace: workspaceTagOf('w'), publicKey, expiresAt });
}

function node({ onReady = () => {}, isPeer = (): boolean => true } = {}) {
  const pair = generateKeyPair();
  const self = {
    pair,
    id: peerIdOf(pair.publicKey),
    packets: [] as string[],
    probed: [] as string[],
    readies: 0,
    expired: 0,
    /** Lead of its clock. */
    skipMs: 0,
    /** Before it tries again. */
    waits: [] as number[],
    use: (port: number, expiresAt?: number) =>
      link.use({ host: '127.0.0.1', port, secure: false, credential: credentialOf(pair, TOKEN, expiresAt) }),
  };
  const link = new RelayLink({
    lookup: askDns,
    keyPair: pair,
    now: () => performance.now() + self.skipMs,
    random: () => 0,
    isPeer,
    log: { ...silentLog, debug: (fields) => self.waits.push(Number(fields['wait'])) },
    onReady: () => {
      self.readies += 1;
      onReady();
    },
    onExpired: () => {
      self.expired += 1;
    },
    onAway: () => {},
    onPackets: (from, packets, segment) =>
      self.packets.push(`${from} ${packets.join()}${segment > 0 ? ` by ${segment}` : ''}`),
    onProbed: (peer, isPresent) => self.probed.push(`${peer} ${isPresent}`),
  });
  cleanUps.push(() => link.close());
  return Object.assign(self, { link });
}
