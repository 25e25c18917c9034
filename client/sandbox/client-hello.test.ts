import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MAX_HELLO_BYTES, readClientHello } from './client-hello.ts';

/** The first bytes that a TLS client sends. */
async function helloOf(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connectTls({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', servername });
  client.on('error', () => {});
  const [socket] = await once(server, 'connection');
  const [bytes] = await once(socket, 'data');
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

const hello = await helloOf('api.example.com');

/** The same message in records of so many bytes. */
function inRecords(bytes: Buffer, size: number): Buffer {
  const content = bytes.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < content.length; at += size) {
    const part = content.subarray(at, at + size);
    records.push(Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part]));
  }
  return Buffer.concat(records);
}

it('reads the server name of a client, in however many records, and ignores what follows', () => {
  const name = { kind: 'name', name: 'api.example.com' };
  expect(readClientHello(hello)).toEqual(name);
  for (const size of [1, 7, 100]) expect(readClientHello(inRecords(hello, size))).toEqual(name);
  expect(readClientHello(Buffer.concat([hello, Buffer.from([20, 3, 3, 0, 1, 1])]))).toEqual(name);
});

it('asks for more at every byte before the last, and then for none', () => {
  for (let length = 0; length < hello.length; length += 1)
    expect(readClientHello(hello.subarray(0, length)).kind, `${length} bytes`).toBe('more');
});

it('refuses a client that names no server, and one that names two', async () => {
  expect(readClientHello(await helloOf(''))).toMatchObject({ kind: 'refused', reason: expect.stringContaining('SNI') });
  const extension = (name: string) => {
    const host = Buffer.concat([Buffer.from([0, 0, name.length]), Buffer.from(name)]);
    const list = Buffer.concat([Buffer.from([0, host.length]), host]);
    return Buffer.concat([Buffer.from([0, 0, 0, list.length]), list]);
  };
  const made = (...extensions: Buffer[]) => {
    const all = Buffer.concat(extensions);
    const body = Buffer.concat([
      Buffer.from([3, 3]),
      Buffer.alloc(32),
      Buffer.from([0, 0, 2, 0x13, 1, 1, 0, all.length >> 8, all.length & 255]),
      all,
    ]);
    const message = Buffer.concat([Buffer.from([1, 0, body.length >> 8, body.length & 255]), body]);
    return Buffer.concat([Buffer.from([22, 3, 1, message.length >> 8, message.length & 255]), message]);
  };
  expect(readClientHello(made(extension('a.example')))).toEqual({ kind: 'name', name: 'a.example' });
  expect(readClientHello(made(extension('a.example'), extension('b.example'))).kind).toBe('refused');
  expect(readClientHello(made(extension(''))).kind).toBe('refused');
});

it('refuses what is not TLS at its first byte, and empty records', () => {
  for (const text of ['SSH-2.0-x', 'GET / HTTP/1.1', '\x80\x2e\x01\x03\x01']) {
    expect(readClientHello(Buffer.from(text, 'latin1')).kind).toBe('refused');
  }
  expect(readClientHello(Buffer.from([22, 3, 1, 0, 0, 22, 3, 1, 0, 0])).kind).toBe('refused');
});

it('never throws, and asks for no more past its limit', () => {
  const begun = fc.uint8Array({ maxLength: 300 }).map((tail) => Buffer.concat([Buffer.from([22, 3, 1]), tail]));
  const changed = fc.tuple(fc.nat(hello.length - 1), fc.nat(255)).map(([at, byte]) => {
    const bytes = Buffer.from(hello);
    bytes[at] = byte;
    return bytes;
  });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), begun, changed), (bytes) => {
      expect(['name', 'more', 'refused']).toContain(readClientHello(bytes).kind);
    }),
  );
  const endless = Buffer.concat([
    Buffer.from([22, 3, 1, 0xff, 0xff, 1, 0xff, 0xff, 0xff]),
    Buffer.alloc(MAX_HELLO_BYTES),
  ]);
  expect(readClientHello(endless.subarray(0, MAX_HELLO_BYTES)).kind).toBe('refused');
});
