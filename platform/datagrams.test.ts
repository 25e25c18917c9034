import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { PLATFORM_CHOICES } from './choice.ts';
import { type DatagramOptions, type DatagramSocket, type SocketAddress, socketAddressOf } from './datagrams.ts';
import { platformOf } from './platform.ts';

const MAX_BYTES = 1_500;
/** As the ports of the product use it: answers to many peers, and bursts within this host, below and above a rate. */
const KINDS = ['requests', 'bursts', 'busy bursts'] as const;
type Kind = (typeof KINDS)[number];
/** Datagrams at once that make a socket busy. */
const BUSY = 2_500;
const HERE = { ipv4: '127.0.0.1', ipv6: '::1' } as const;
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

describe.each(PLATFORM_CHOICES)('datagrams, platform %s', (choice) => {
  type Asked = Partial<Omit<DatagramOptions, 'maxBytes'>> & {
    readonly kind?: Kind;
    readonly onDatagrams: DatagramOptions['onDatagrams'];
  };

  async function opened({ kind = 'requests', family = 'ipv4', onDatagrams, ...rest }: Asked): Promise<DatagramSocket> {
    let hear: DatagramOptions['onDatagrams'] = onDatagrams;
    const said: string[] = [];
    const log = { error() {}, warn() {}, info() {}, debug: (_fields: object, message: string) => said.push(message) };
    const socket = await platformOf(choice).datagrams.open({
      family,
      host: HERE[family],
      port: 0,
      receiveBufferBytes: 1_048_576,
      maxBytes: kind === 'requests' ? MAX_BYTES : 'coalesced',
      log,
      ...rest,
      onDatagrams: (bytes, segment, from) => hear(bytes, segment, from),
    });
    undo.push(() => socket.close());
    if (kind !== 'busy bursts') return socket;
    const own = socketAddressOf(HERE[family], socket.port);
    let heard = 0;
    hear = (bytes) => {
      heard += bytes.length;
    };
    const isBatched = () =>
      said.includes('Datagrams go in batches.') || choice === 'plain' || process.platform !== 'linux';
    for (let sent = 0; sent < BUSY || !isBatched(); sent += 50) {
      for (let n = 0; n < 50; n++) socket.send(Uint8Array.of(1), 0, own);
      await expect.poll(() => heard, { interval: 1 }).toBe(sent + 50);
    }
    hear = onDatagrams;
    return socket;
  }

  describe.each(KINDS)('in %s', (kind) => {
    it.each(['ipv4', 'ipv6'] as const)(
      'come with the address they were sent from, and answers go there: %s',
      async (family) => {
        const seen: { address: string; ip: number; port: number }[] = [];
        const socket = await opened({
          family,
          kind,
          onDatagrams(bytes, segment, from) {
            seen.push({ address: from.address, ip: from.ip.length, port: from.port });
            socket.send(bytes, segment, from);
          },
        });
        const peers = await Promise.all(Array.from({ length: 3 }, () => peer(family)));
        for (let n = 0; n < 20; n++)
          for (const [at, { socket: from }] of peers.entries()) from.send([at, n].join(), socket.port, HERE[family]);
        await expect.poll(() => peers.map(({ heard }) => heard.length)).toEqual([20, 20, 20]);
        expect(peers.map(({ heard }) => heard)).toEqual(
          [0, 1, 2].map((at) => Array.from({ length: 20 }, (_, n) => `${at},${n}`)),
        );
        const sources = peers.map(({ socket: from }) => ({
          address: HERE[family],
          ip: family === 'ipv4' ? 4 : 16,
          port: from.address().port,
        }));
        expect(new Set(seen.map((one) => JSON.stringify(one)))).toEqual(
          new Set(sources.map((one) => JSON.stringify(one))),
        );
      },
    );

    it('arrive whole, empty and many at once, the bytes the sender’s again after the call', async () => {
      const heard: string[] = [];
      const there = await opened({ kind, onDatagrams: (bytes) => heard.push(textOf(bytes)) });
      const here = await opened({ kind, onDatagrams() {} });
      const bytes = new Uint8Array(MAX_BYTES);
      for (const fill of [1, 2]) here.send(bytes.fill(fill), 0, socketAddressOf('127.0.0.1', there.port));
      here.send(new Uint8Array(), 0, socketAddressOf('127.0.0.1', there.port));
      bytes.fill(9);
      await expect.poll(() => heard).toEqual(['1 x 1500', '2 x 1500', 'empty']);
    });

    it('that were coalesced arrive as what they are, none lost and in order', async () => {
      const heard: string[] = [];
      const there = await opened({ onDatagrams: (bytes) => heard.push(textOf(bytes)) });
      const here = await opened({ kind, onDatagrams() {} });
      const parts = [1, 2, 3].flatMap((fill) => new Array<number>(fill === 3 ? 50 : 100).fill(fill));
      here.send(Uint8Array.from(parts), 100, socketAddressOf('127.0.0.1', there.port));
      await expect.poll(() => heard).toEqual(['1 x 100', '2 x 100', '3 x 50']);
    });

    it('that cannot be sent cost those after them nothing', async () => {
      const { socket: other, heard } = await peer('ipv4');
      const place = socketAddressOf('127.0.0.1', other.address().port);
      const socket: DatagramSocket = await opened({
        kind,
        onDatagrams() {
          // From a loopback address there is no way there.
          socket.send(Uint8Array.of(0x61), 0, socketAddressOf('192.0.2.1', 9));
          socket.send(new Uint8Array(70_000), 0, place);
          socket.send(Uint8Array.of(0x62), 0, place);
        },
      });
      other.send('go', socket.port, '127.0.0.1');
      await expect.poll(() => heard).toEqual(['b']);
      other.send('go', socket.port, '127.0.0.1');
      await expect.poll(() => heard).toEqual(['b', 'b']);
    });

    it('end with the socket: it may be closed by who is told of one, twice, and used no more', async () => {
      const told: SocketAddress[] = [];
      const { socket: other } = await peer('ipv4');
      const socket: DatagramSocket = await opened({
        kind,
        onDatagrams(_bytes, _segment, from) {
          told.push(from);
          void socket.close();
          socket.send(Uint8Array.of(1), 0, socketAddressOf('127.0.0.1', other.address().port));
        },
      });
      for (let n = 0; n < 5; n++) other.send('x', socket.port, '127.0.0.1');
      await expect.poll(() => told.length).toBe(1);
      await socket.close();
      // Its port is free again.
      const after = await opened({ kind, port: socket.port, onDatagrams() {} });
      expect([after.port, told.length]).toEqual([socket.port, 1]);
    });

    it('are refused a port that is taken, with the system’s code', async () => {
      const { port } = await opened({ kind, onDatagrams() {} });
      await expect(opened({ kind, port, onDatagrams() {} })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    });
  });

  it.runIf(zoned())('from an address with a zone are answered there', async () => {
    const { address, scope } = zoned() ?? { address: '', scope: '' };
    const socket: DatagramSocket = await opened({
      family: 'ipv6',
      host: '::',
      onDatagrams: (bytes, segment, from) => socket.send(bytes, segment, from),
    });
    const { socket: other, heard } = await peer('ipv6', `${address}%${scope}`);
    for (const text of ['a', 'b', 'c']) other.send(text, socket.port, `${address}%${scope}`);
    await expect.poll(() => heard.toSorted()).toEqual(['a', 'b', 'c']);
  });
});

it('a place is named by an address alone', () => {
  expect(socketAddressOf('127.77.0.1', 51_820)).toEqual({
    address: '127.77.0.1',
    ip: Uint8Array.of(127, 77, 0, 1),
    port: 51_820,
  });
  expect(() => socketAddressOf('mesh.example', 1)).toThrow('mesh.example is no address.');
});

/** A socket of Node's and what it heard. */
async function peer(
  family: 'ipv4' | 'ipv6',
  address: string = HERE[family],
): Promise<{ socket: Socket; heard: string[] }> {
  const socket = createSocket(family === 'ipv4' ? 'udp4' : 'udp6');
  undo.push(() => socket.close());
  socket.bind(0, address);
  await once(socket, 'listening');
  const heard: string[] = [];
  socket.on('message', (bytes) => heard.push(bytes.toString()));
  return { socket, heard };
}

/** A link-local address of this host. */
function zoned(): { address: string; scope: string } | undefined {
  for (const [scope, addresses = []] of Object.entries(networkInterfaces())) {
    const found = addresses.find(({ address }) => address.startsWith('fe80:'));
    if (found) return { address: found.address, scope };
  }
  return undefined;
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'empty';
  return bytes.every((byte) => byte === bytes[0]) ? `${bytes[0]} x ${bytes.length}` : 'mixed';
}
