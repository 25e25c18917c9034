import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { type OverlayConnection, UDP } from './connection.ts';
import { addressField, endOfWhole, FRAME, frameOf, framesOf, u16, u32 } from './frames.ts';
import { Netstack } from './netstack.ts';
import { OPEN, type TestNode, testNodes } from './nodes.testkit.ts';

const BYTES = 3_000_000;

it('reads what it writes, several frames behind each other', () => {
  const one = frameOf(FRAME.dial, 7, u32(9), addressField('10.96.0.1'), u16(80));
  const two = frameOf(FRAME.data, 8, u32(10), Buffer.from('text'));
  const [dial, data] = [...framesOf(Buffer.concat([one, two]))];
  expect([dial?.kind, dial?.node, dial?.fields.u32()]).toEqual([FRAME.dial, 7, 9]);
  expect(dial?.fields.endpoint()).toEqual({ address: '10.96.0.1', port: 80 });
  expect([data?.kind, data?.node, data?.fields.u32(), data?.fields.text()]).toEqual([FRAME.data, 8, 10, 'text']);
});

it('finds the last whole frame of bytes that were cut off anywhere', () => {
  const [one, two] = [frameOf(FRAME.close, 7), frameOf(FRAME.data, 8, u32(10), Buffer.from('text'))];
  const both = Buffer.concat([one, two]);
  for (let length = 0; length <= both.length; length += 1) {
    const whole = length === both.length ? both.length : length >= one.length ? one.length : 0;
    expect(endOfWhole(both.subarray(0, length))).toBe(whole);
  }
});

it('carries a long answer whole to a reader that is slow to begin', { timeout: 60_000 }, async () => {
  await using net = await testNodes(2);
  const [a, b] = net.nodes as [TestNode, TestNode];
  await Promise.all([a.apply(OPEN), b.apply(OPEN)]);
  await b.stack.listen(80, (connection) => connection.on('error', () => {}).end(Buffer.alloc(BYTES, 1)));
  const connection = a.stack.connect({ address: b.address, port: 80 });
  await new Promise((resolve) => connection.once('connect', resolve));
  await a.stack.ping(b.address, 20_000);
  let received = 0;
  for await (const chunk of connection) received += chunk.length;
  expect(received).toBe(BYTES);
  connection.destroy();
  const [peer] = await a.tunnel.peers();
  expect(peer?.receivedBytes).toBeGreaterThan(BYTES);
});

it('names a port that nobody serves, and one that is served already', async () => {
  await using net = await testNodes(2);
  const [a, b] = net.nodes as [TestNode, TestNode];
  await Promise.all([a.apply(OPEN), b.apply(OPEN)]);
  const connection = a.stack.connect({ address: b.address, port: 81 });
  expect(await new Promise((resolve) => connection.once('error', resolve))).toMatchObject({ code: 'ECONNREFUSED' });
  await b.stack.listen(80, () => {});
  await expect(b.stack.listen(80, () => {})).rejects.toThrow('Port 80 of this node cannot be served');
});

it('serves and answers at both addresses of a node, and at the new one once the old one is gone', async () => {
  await using net = await testNodes(2);
  const [a, b] = net.nodes as [TestNode, TestNode];
  const old = { address: b.address, cidr: '10.96.0.0/24' };
  const present = { address: '10.97.0.2', cidr: '10.97.0.0/24' };
  const everywhere = [{ cidr: '10.0.0.0/8', protocol: 'ALL' as const }];
  await Promise.all([a.apply({ in: everywhere, out: everywhere }), b.apply(OPEN)]);
  await b.stack.listen(80, (connection) => connection.on('error', () => {}).pipe(connection));
  const kept = await echoing(a, b.address);
  const allowedIps = [`${present.address}/32`, `${old.address}/32`];
  await a.tunnel.change([{ publicKey: b.publicKey, allowedIps, keepalive: 0 }], []);
  await b.tunnel.setPlaces([present, old]);
  expect(await kept.echo('kept')).toBe('kept');
  expect(await (await echoing(a, present.address)).echo('new')).toBe('new');
  expect(await (await echoing(a, old.address)).echo('old')).toBe('old');
  expect(await a.stack.ping(old.address, 20_000)).toBeTypeOf('number');
  await b.tunnel.setPlaces([present]);
  expect(await (await echoing(a, present.address)).echo('new again')).toBe('new again');
  expect(await a.stack.ping(old.address, 200)).toBe('timeout');
});

/** A connection to port 80, and what comes back of what is sent. */
async function echoing({ stack }: TestNode, address: string) {
  const connection = stack.connect({ address, port: 80 });
  await new Promise((resolve, reject) => connection.once('connect', resolve).once('error', reject));
  return {
    async echo(text: string): Promise<string> {
      const answer = new Promise((resolve) => connection.once('data', resolve));
      connection.write(text);
      return String(await answer);
    },
  };
}

it('ends every connection with an error when the thread ends, and its nodes say so', async () => {
  await using net = await testNodes(2);
  const [a, b] = net.nodes as [TestNode, TestNode];
  await Promise.all([a.apply(OPEN), b.apply(OPEN)]);
  await b.stack.listen(80, (connection) => connection.on('error', () => {}));
  const connection = a.stack.connect({ address: b.address, port: 80 });
  await new Promise((resolve) => connection.once('connect', resolve));
  const failure = new Promise((resolve) => connection.once('error', resolve));
  await a.stack.thread.terminate();
  expect(await failure).toMatchObject({ code: 'ECONNRESET' });
  expect(await a.tunnel.ended).toContain('ended');
  await expect(a.tunnel.peers()).rejects.toThrow('is closed');
});

/** Resolves with the next datagram of a flow. */
function datagram(flow: OverlayConnection): Promise<string> {
  return new Promise((resolve, reject) => flow.once('error', reject).once('data', (bytes) => resolve(`${bytes}`)));
}

it('carries each datagram of a flow as one, to a UDP port and back', async () => {
  await using net = await testNodes(2);
  const [a, b] = net.nodes as [TestNode, TestNode];
  await Promise.all([a.apply(OPEN), b.apply(OPEN)]);
  const received: string[] = [];
  const unlisten = await b.stack.listen(
    53,
    (flow) => flow.on('error', () => {}).on('data', (bytes) => received.push(`${bytes}`) && flow.write(bytes)),
    UDP,
  );
  await expect(b.stack.listen(53, () => {}, UDP)).rejects.toThrow('Port 53 of this node cannot be served');
  const flow = a.stack.connect({ address: b.address, port: 53 }, UDP);
  const large = 'x'.repeat(3_000);
  for (const text of ['one', '', large]) {
    flow.write(text);
    expect(await datagram(flow)).toBe(text);
  }
  expect(received).toEqual(['one', '', large]);
  flow.destroy();
  unlisten();
  const late = a.stack.connect({ address: b.address, port: 53 }, UDP);
  late.write('nobody takes it');
  await a.stack.ping(b.address, 20_000);
  // The refusal has come before the echo; a flow hears of it as it sends again.
  late.write('nor this');
  await expect(datagram(late)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('ends a UDP flow that is idle at both ends', async () => {
  await using net = await testNodes(2);
  const [a, b] = net.nodes as [TestNode, TestNode];
  await Promise.all([a.apply(OPEN), b.apply(OPEN)]);
  const brief = { idleSeconds: 1 };
  const ends: Promise<unknown>[] = [];
  await b.stack.listen(53, (flow) => ends.push(new Promise((resolve) => flow.resume().once('close', resolve))), brief);
  const flow = a.stack.connect({ address: b.address, port: 53 }, brief);
  flow.resume().write('once');
  await new Promise((resolve) => flow.once('close', resolve));
  expect(ends).toHaveLength(1);
  await ends[0];
});

it('gives one peer so many flows, and another one room beside them', { timeout: 60_000 }, async () => {
  await using net = await testNodes(3);
  const [a, b, c] = net.nodes as [TestNode, TestNode, TestNode];
  await Promise.all([a.apply(OPEN), b.apply(OPEN), c.apply(OPEN)]);
  await b.stack.listen(53, (flow) => flow.on('error', () => {}).on('data', (bytes) => flow.write(bytes)), UDP);
  const ask = (from: TestNode) => {
    const flow = from.stack.connect({ address: b.address, port: 53 }, UDP);
    flow.write('asked');
    return { flow, answer: datagram(flow) };
  };
  const most = Array.from({ length: 1_024 }, () => ask(a));
  await Promise.all(most.map(({ answer }) => answer));
  const beyond = ask(a);
  const answered = beyond.answer.then(
    () => 'answered',
    () => 'refused',
  );
  expect(await ask(c).answer).toBe('asked');
  beyond.flow.destroy(new Error('nobody answered'));
  expect(await answered).toBe('refused');
});

it('ends a UDP flow that no policy permits, and one that policy closes', async () => {
  await using net = await testNodes(2);
  const [a, b] = net.nodes as [TestNode, TestNode];
  await Promise.all([a.apply(OPEN), b.apply(OPEN)]);
  await b.stack.listen(53, (flow) => flow.on('error', () => {}).on('data', (bytes) => flow.write(bytes)), UDP);
  const flow = a.stack.connect({ address: b.address, port: 53 }, UDP);
  flow.write('one');
  expect(await datagram(flow)).toBe('one');
  const failure = datagram(flow);
  await a.apply({ ...OPEN, out: [] });
  await expect(failure).rejects.toMatchObject({ code: 'EACCES' });
  await expect(datagram(a.stack.connect({ address: b.address, port: 53 }, UDP))).rejects.toMatchObject({
    code: 'EACCES',
  });
});

it('names a stack that there is not, and one that ends', async () => {
  expect(() => new Netstack('fast')).toThrow(
    'MESH_NETSTACK is "fast": set it to wasm, native or the path of a program.',
  );
  expect(() => new Netstack('/nowhere/netstack')).toThrow(/no program \/nowhere\/netstack\. .*npm run build:netstack/);
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-stack-'));
  try {
    const program = path.join(directory, 'netstack');
    writeFileSync(program, `#!${process.execPath}\nprocess.stdin.once('data', () => process.exit(3));\n`);
    chmodSync(program, 0o700);
    const opened = new Netstack(program).open({ address: '10.96.0.1', mtu: 1_280, port: 0 });
    await expect(opened).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('ended') });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
