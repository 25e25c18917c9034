import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { decodeXorAddress, formatIp } from './address.ts';
import { StunListener } from './listener.ts';
import { ATTRIBUTES, BINDING, decodeStun, encodeStun } from './message.ts';

const COTURN_CLIENT = '/usr/bin/turnutils_stunclient';
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

describe('STUN over sockets', () => {
  test.each([
    ['udp4', '127.0.0.1', 32],
    ['udp6', '::1', 44],
  ] as const)('a client on %s learns its own address', async (type, address, length) => {
    const port = await started();
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

  test.runIf(existsSync(COTURN_CLIENT))("coturn's client understands the answer", async () => {
    const port = await started();
    const { stdout } = await promisify(execFile)(COTURN_CLIENT, ['-p', String(port), '127.0.0.1']);
    expect(stdout).toMatch(/UDP reflexive addr: 127\.0\.0\.1:\d+/);
  });

  test('it can be started again after a stop, and a port that is taken is reported', async () => {
    const port = await started();
    const second = new StunListener({ host: '127.0.0.1', port, clock: { now: () => 0 } });
    await expect(second.start()).rejects.toThrow('EADDRINUSE');
    await undo.splice(0)[0]?.();
    await second.start();
    await second.stop();
    await second.stop();
  });
});

async function started(): Promise<number> {
  const listener = new StunListener({ host: '0.0.0.0', port: 0, clock: { now: () => 0 } });
  undo.push(() => listener.stop());
  return (await listener.start()).port;
}
