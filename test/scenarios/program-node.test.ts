import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { join, type MeshNode } from '../../bin/node.ts';
import { startJoinablePlane } from '../kits/http/joinable-plane.ts';

let plane: Awaited<ReturnType<typeof startJoinablePlane>>;
let web: MeshNode;
let job: MeshNode;
/** Threads of the network stack, the oldest first. */
const threads: Worker[] = [];
const countThread = (thread: Worker) => void (thread.threadName === 'netstack' && threads.push(thread));

async function token(): Promise<string> {
  const body = { name: 'programs', usageLimit: 1 };
  return (await plane.harness.api('POST', '/api/v1/token/generate', { ...plane.admin, body })).body.token;
}

async function joined(name: string, more: { directory?: string; signal?: AbortSignal } = {}): Promise<MeshNode> {
  return join({ server: plane.harness.url, token: await token(), name, ...more });
}

/** Resolves with the code of the error that a connection ends with. */
function failureOf(stream: Duplex): Promise<unknown> {
  return new Promise((resolve) => stream.once('error', resolve));
}

async function peerNames(): Promise<string[]> {
  const { body } = await plane.harness.api('GET', '/api/v1/peers', plane.admin);
  return body.items.map(({ name }: { name: string }) => name).toSorted();
}

beforeAll(async () => {
  plane = await startJoinablePlane();
  process.on('worker', countThread);
  web = await joined('web');
  job = await joined('job');
  const server = createServer((request, response) => response.end(`${request.method} ${request.url}`));
  (await web.listen(80)).on('connection', (connection) => server.emit('connection', connection));
  (await web.listen(81)).on('connection', (connection) => connection.pipe(connection));
});
afterAll(async () => {
  process.off('worker', countThread);
  await Promise.all([web?.close(), job?.close()]);
  await plane?.[Symbol.asyncDispose]();
});

it('reaches a peer by fetch, by an agent of node:http and by a stream', async () => {
  expect(await (await job.fetch('http://web/one')).text()).toBe('GET /one');
  const [response] = await once(get('http://web/two', { agent: job.httpAgent }), 'response');
  expect(await text(response)).toBe('GET /two');
  const stream = job.connect('web', 81);
  stream.end('three');
  expect(await text(stream)).toBe('three');
  const connected = { name: 'job', peers: [{ name: 'web', state: 'connected' }], trouble: '' };
  await expect.poll(() => job.status()).toMatchObject(connected);
});

it('carries datagrams to a UDP port of a peer and back', async () => {
  const listener = await web.listen(53, { udp: true });
  listener.on('connection', (flow) => flow.on('data', (bytes) => flow.write(`${bytes}!`)));
  const flow = job.connect('web', 53, { udp: true });
  flow.write('one');
  expect(`${(await once(flow, 'data'))[0]}`).toBe('one!');
  flow.destroy();
  listener.close();
});

it('closes a connection once the peer has said all', async () => {
  const listener = await web.listen(83);
  listener.on('connection', (connection) => connection.end('bye'));
  const stream = job.connect('web', 83);
  expect(await text(stream)).toBe('bye');
  await finished(stream);
  listener.close();
});

it('ends a connection with an error that names the reason', async () => {
  expect(await failureOf(job.connect('web', 82))).toMatchObject({ code: 'ECONNREFUSED' });
  expect(await failureOf(job.connect('example.com', 80))).toMatchObject({ code: 'not_found' });
  expect(await failureOf(job.connect('web', 70_000))).toMatchObject({ code: 'invalid_input' });
  await expect(web.listen(80)).rejects.toMatchObject({ code: 'conflict' });
  await expect(job.fetch('http://web:82/')).rejects.toThrow('fetch failed');
});

it('aborts a join, a connection, a request and a listener', async () => {
  const aborted = AbortSignal.abort(new Error('no more'));
  await expect(joined('late', { signal: aborted })).rejects.toThrow('no more');
  const ending = new AbortController();
  const stream = job.connect('web', 81, { signal: ending.signal });
  await once(stream, 'connect');
  const listener = await job.listen(80, { signal: ending.signal });
  const [failure, closed] = [failureOf(stream), once(listener, 'close')];
  const asked = job.fetch('http://web/', { signal: ending.signal });
  ending.abort();
  expect(await failure).toMatchObject({ name: 'AbortError' });
  await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  await closed;
  (await job.listen(80)).close();
});

it('ends a join that waits for an answer of the control plane with its signal', async () => {
  const deaf = createServer().listen(0, '127.0.0.1');
  const asked = once(deaf, 'request');
  await once(deaf, 'listening');
  const { port } = deaf.address() as AddressInfo;
  const ending = new AbortController();
  const waiting = join({ server: `http://127.0.0.1:${port}`, token: await token(), signal: ending.signal });
  const failure = waiting.catch((error: unknown) => error);
  await asked;
  ending.abort(new Error('enough'));
  expect(await failure).toMatchObject({ message: 'enough' });
  deaf.closeAllConnections();
  deaf.close();
});

it('deletes its peer as it closes, unless it has a directory, whose node comes back as the same peer', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-program-'));
  try {
    const brief = await joined('brief');
    const kept = await joined('kept', { directory });
    const { address } = await kept.status();
    await expect(joined('other', { directory })).rejects.toThrow('is up already');
    await Promise.all([brief.close(), kept.close()]);
    expect(await brief.ended).toMatchObject({ why: 'closed' });
    expect(await peerNames()).toEqual(['job', 'kept', 'web']);
    const again = await join({ server: plane.harness.url, token: 'unused', directory });
    expect(await again.status()).toMatchObject({ name: 'kept', address });
    await again.close();
    expect(await failureOf(again.connect('web', 81))).toMatchObject({ code: 'unavailable' });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it('ends connections of all nodes with an error when their one thread fails, and starts it and them again', async () => {
  expect(threads).toHaveLength(1);
  const stream = job.connect('web', 81);
  await once(stream, 'connect');
  const failure = failureOf(stream);
  await threads[0]?.terminate();
  expect(await failure).toMatchObject({ code: 'ECONNRESET' });
  const again = async () => (await job.fetch('http://web/again', { signal: AbortSignal.timeout(5_000) })).text();
  await expect.poll(() => again().catch(String), { timeout: 60_000 }).toBe('GET /again');
  expect(threads).toHaveLength(2);
});

it('ends where the control plane removes its peer', async () => {
  await using brief = await joined('fired');
  const { body } = await plane.harness.api('GET', '/api/v1/peers', plane.admin);
  const { id } = body.items.find(({ name }: { name: string }) => name === 'fired');
  await plane.harness.api('DELETE', `/api/v1/peers/${id}`, plane.admin);
  expect(await brief.ended).toMatchObject({ why: 'removed' });
});
