import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startTestPlane, type TestPlane } from './plane.testkit.ts';

const nested = (levels: number) => `{"name":${'['.repeat(levels)}${']'.repeat(levels)}}`;

/** @returns the status and what it says */
async function send(
  plane: TestPlane,
  body: string | Buffer,
  headers: Record<string, string> = {},
  path = '/api/v1/imports',
) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  const response = await plane.send(path, init);
  const { code, detail } = (await response.json()) as { code?: string; detail?: string };
  return [response.status, code, detail];
}

describe('a body that is made to be costly is refused with the limit that it exceeds', () => {
  test.each([
    ['nested 150,000 levels deep', nested(150_000), 'nested deeper than 64 levels'],
    ['of 90,000 fields', `{${Array.from({ length: 90_000 }, (_, at) => `"k${at}":1`).join()}}`, 'more than 1000 keys'],
    ['of 440,000 entries', `{"name":[${Array(440_000).fill(1).join()}]}`, 'more than 120000 values'],
  ])('%s, plain and compressed', async (_what, body, limit) => {
    await using plane = await startTestPlane();
    const refused = [400, 'invalid_input', expect.stringContaining(limit)];
    expect(await send(plane, body)).toEqual(refused);
    expect(await send(plane, gzipSync(body), { 'content-encoding': 'gzip' })).toEqual(refused);
  });

  test('compressed to 1/1000 of more than its limit', async () => {
    await using plane = await startTestPlane();
    const refused = [413, 'payload_too_large', expect.stringContaining('1048576 bytes')];
    expect(await send(plane, brotliCompressSync('x'.repeat(100_000_000)), { 'content-encoding': 'br' })).toEqual(
      refused,
    );
    expect(await send(plane, 'x'.repeat(1_048_577))).toEqual(refused);
  });

  test('sent in pieces without its length', async () => {
    await using plane = await startTestPlane();
    const { port } = plane.server;
    const sent = request({
      port,
      method: 'POST',
      path: '/api/v1/imports',
      headers: { 'content-type': 'application/json' },
    });
    const answered = new Promise<string>((resolve) => {
      sent.once('response', (response) => resolve(text(response)));
      sent.once('error', () => undefined);
    });
    for (let piece = 0; piece < 18; piece += 1) sent.write('x'.repeat(65_536));
    expect(JSON.parse(await answered)).toMatchObject({ status: 413, code: 'payload_too_large' });
    sent.destroy();
  });
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('a body compressed by %s is read', async (encoding, compress) => {
  await using plane = await startTestPlane();
  const [status] = await send(plane, compress('{"name":"ä"}'), { 'content-encoding': encoding });
  expect(status).toBe(200);
});

test.each([
  ['an unknown compression', '{}', { 'content-encoding': 'zip' }, 415],
  ['a compression that it does not have', '{}', { 'content-encoding': 'gzip' }, 400],
  ['the end cut off', gzipSync('{"name":"x"}').subarray(0, 20), { 'content-encoding': 'gzip' }, 400],
  ['another charset', '{}', { 'content-type': 'application/json; charset=utf-16' }, 415],
])('a body with %s is refused', async (_what, body, headers, status) => {
  await using plane = await startTestPlane();
  expect((await send(plane, body, headers))[0]).toBe(status);
});

test.each([
  ['public', '/api/v1/things', 65_536],
  ['one that needs a scope', '/api/v1/imports', 1_048_576],
])('an operation takes bodies as long as its access allows: %s', async (_access, path, limit) => {
  await using plane = await startTestPlane();
  const body = (bytes: number) => JSON.stringify({ name: 'x'.repeat(bytes - '{"name":""}'.length) });
  const refused = [413, 'payload_too_large', `Send at most ${limit} bytes in this request, decompressed.`];
  expect((await send(plane, body(limit), {}, path))[0]).toBeLessThan(300);
  expect(await send(plane, body(limit + 1), {}, path)).toEqual(refused);
  expect(await send(plane, gzipSync(body(limit + 1)), { 'content-encoding': 'gzip' }, path)).toEqual(refused);
});

test('a body that announces more than its limit is refused before any of it is sent', async () => {
  await using plane = await startTestPlane();
  const headers = { 'content-type': 'application/json', 'content-length': 65_537 };
  const sent = request({ port: plane.server.port, method: 'POST', path: '/api/v1/things', headers });
  sent.once('error', () => undefined);
  sent.flushHeaders();
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(413);
  sent.destroy();
});

test('a query with thousands of fields is refused by the schema', async () => {
  await using plane = await startTestPlane();
  const query = Array.from({ length: 3_000 }, (_, at) => `a${at}`).join('&');
  expect((await plane.send(`/api/v1/echo?${query}`)).status).toBe(400);
});
