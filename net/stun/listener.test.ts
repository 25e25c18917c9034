import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { PLATFORM_CHOICES, type PlatformChoice } from '../../platform/choice.ts';
import { formatIp } from '../../platform/ip.ts';
import { platformOf } from '../../platform/platform.ts';
import { decodeXorAddress } from './address.ts';
import { StunListener } from './listener.ts';
import { ATTRIBUTES, BINDING, decodeStun, encodeStun } from './message.ts';

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

describe.each(PLATFORM_CHOICES)('STUN over sockets, platform %s', (choice) => {
  test.each([
    ['udp4', '127.0.0.1', 32],
    ['udp6', '::1', 44],
  ] as const)('a client on %s learns its own address', async (type, address, length) => {
    const port = await started(choice);
    const socket = createSocket(type);
    undo.push(() => socket.close());
    const answer = new Promise<Buffer>((resolve) => socket.once('message', resolve));
    const transactionId = new Uint8Array(12).fill(9);
    socket.send(encodeStun({ class: 'request', method: BINDING, transactionId, attributes: [] }), port, address);
    const bytes = await answer;
    const mapped = decodeStun(bytes)?.attributes.find((attribute) => attribute.type === ATTRIBUTES.xorMappedAddress);
    const seen = mapped && decodeXorAddress(mapped.value, transactionId);
    expect(bytes.length).toBe(length);
    expect(seen && { ip: formatIp(seen.ip), port: seen.port }).toEqual({ ip: address, port: socket.address().port });
  });

  test('each of a burst of clients gets the answer to its own question, whatever others send', async () => {
    const port = await started(choice);
    const clients = await Promise.all(Array.from({ length: 8 }, () => client()));
    const noise = fc.sample(fc.uint8Array({ maxLength: 2_000 }), { numRuns: 200, seed: 1 });
    for (let round = 0; round < 25; round++) {
      for (const [index, { socket }] of clients.entries()) {
        socket.send(question(index, round), port, '127.0.0.1');
        socket.send(noise[round * clients.length + index] ?? new Uint8Array(0), port, '127.0.0.1');
      }
    }
    const wanted = clients.map(({ socket }, index) =>
      Array.from({ length: 25 }, (_, round) => `${index}/${round} 127.0.0.1:${socket.address().port}`),
    );
    await expect.poll(() => clients.map(({ heard }) => heard.toSorted())).toEqual(wanted.map((all) => all.toSorted()));
  });

  test('it can be started again after a stop, and a port that is taken is reported', async () => {
    const port = await started(choice);
    const second = new StunListener({ host: '127.0.0.1', port, clock: { now: () => 0 } });
    await expect(second.start()).rejects.toThrow('EADDRINUSE');
    await undo.splice(0)[0]?.();
    await second.start();
    await second.stop();
    await second.stop();
  });
});

/** A client and the questions it was answered, with the address that it was told. */
async function client() {
  const socket = createSocket('udp4');
  undo.push(() => socket.close());
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const heard: string[] = [];
  socket.on('message', (bytes) => {
    const message = decodeStun(bytes);
    const mapped = message?.attributes.find(({ type }) => type === ATTRIBUTES.xorMappedAddress);
    const seen = message && mapped && decodeXorAddress(mapped.value, message.transactionId);
    const [index, round] = message?.transactionId ?? [];
    heard.push(`${index}/${round} ${seen && formatIp(seen.ip)}:${seen?.port}`);
  });
  return { socket, heard };
}

function question(index: number, round: number): Uint8Array {
  const transactionId = new Uint8Array(12);
  transactionId.set([index, round]);
  return encodeStun({ class: 'request', method: BINDING, transactionId, attributes: [] });
}

async function started(choice: PlatformChoice): Promise<number> {
  const listener = new StunListener({
    host: '0.0.0.0',
    port: 0,
    clock: { now: () => 0 },
    ratePerSecond: 100_000,
    datagrams: platformOf(choice).datagrams,
  });
  undo.push(() => listener.stop());
  return (await listener.start()).port;
}
