import { once } from 'node:events';
import { Agent, type RequestListener, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { originOf } from '../core/base/origin.ts';
import { listen } from './listen.ts';

test('a request that is complete only once the end has begun is refused before anything is done, and told to close', async () => {
  const served: string[] = [];
  const listening = await listen(
    (request, response) => {
      served.push(request.url ?? '');
      response.end('done');
    },
    { host: '127.0.0.1', port: 0 },
  );
  const socket = connect(listening.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST /late HTTP/1.1\r\nHost: mesh\r\n');
  // Whoever is served after that shows that what was written before has been read.
  for (const path of ['/a', '/b', '/c']) await (await fetch(`${listening.url}${path}`)).text();
  const drained = listening.drain(60_000);
  socket.write('Content-Length: 0\r\n\r\n');
  const answer = await text(socket);
  await drained;
  expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  expect(answer).toMatch(/^connection: close\r$/im);
  expect(answer).toMatch(/^retry-after: 1\r$/im);
  expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ code: 'unavailable', instance: '/late' });
  expect(served).toEqual(['/a', '/b', '/c']);
  await listening.stop();
});

test('a caller that closes its own direction after the request is answered', async () => {
  const listening = await listen(
    (_request, response) => void setImmediate(() => setImmediate(() => response.end('done'))),
    { host: '127.0.0.1', port: 0 },
  );
  const socket = connect({ port: listening.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end('POST /half HTTP/1.1\r\nHost: mesh\r\nContent-Length: 2\r\n\r\n{}');
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toContain('done');
  await listening.stop();
});

test('whoever asks in the moment after the end has begun is told so, on a kept connection and on a new one', async () => {
  const listening = await listen((_request, response) => void response.end('done'), { host: '127.0.0.1', port: 0 });
  using agent = disposable(new Agent({ keepAlive: true, maxSockets: 1 }));
  const before = await post(listening.url, agent);
  const drained = listening.drain(60_000);
  const kept = await post(listening.url, agent, 'x'.repeat(200_000));
  const fresh = await post(`${listening.url}/readyz`);
  expect([before, kept, fresh]).toEqual([
    { status: 200, connection: 'keep-alive', isReused: false },
    { status: 503, connection: 'close', isReused: true },
    { status: 503, connection: 'close', isReused: false },
  ]);
  await drained;
  await expect(post(listening.url)).rejects.toThrow('ECONNREFUSED');
});

test('a kept connection on which nobody asks does not hold the end up', async () => {
  const listening = await listen((_request, response) => void response.end('done'), { host: '127.0.0.1', port: 0 });
  using agent = disposable(new Agent({ keepAlive: true, maxSockets: 1 }));
  await post(listening.url, agent);
  await listening.drain(600_000);
});

test('a stream that ends by itself lets the end go on, though its connection would be kept', async () => {
  const begun = Promise.withResolvers<() => void>();
  const listening = await listen(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': open\n\n');
      begun.resolve(() => response.end());
    },
    { host: '127.0.0.1', port: 0 },
  );
  const stream = await fetch(listening.url);
  const end = await begun.promise;
  const stopped = listening.stop(60_000);
  end();
  expect(await stream.text()).toBe(': open\n\n');
  await stopped;
});

test('what does not end in time is cut', async () => {
  const listening = await listen((_request, response) => void response.write('and'), { host: '127.0.0.1', port: 0 });
  const answer = await fetch(listening.url);
  await listening.stop(1);
  await expect(answer.text()).rejects.toThrow('terminated');
});

async function post(url: string, agent?: Agent, body = '') {
  const call = request(url, { method: 'POST', ...(agent && { agent }) });
  call.end(body);
  const [response] = await once(call, 'response');
  await text(response);
  return { status: response.statusCode, connection: response.headers.connection, isReused: call.reusedSocket };
}

function disposable(agent: Agent): Agent & Disposable {
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

/** A server of which even the loopback has limits. */
function limited(app: RequestListener, connections = { total: 3, perSource: 2 }) {
  return listen(app, { host: '127.0.0.1', port: 0, isShared: () => false, connections });
}

async function open(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  await once(socket, 'connect');
  return socket;
}

/** By an end or a reset. */
function closed(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => undefined).once('close', () => resolve());
  socket.resume();
  return promise;
}

/** @returns the status, once the head of the answer is there */
async function ask(socket: Socket): Promise<string | undefined> {
  socket.write('GET / HTTP/1.1\r\nHost: mesh\r\n\r\n');
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString().split(' ', 2)[1];
}

test('a source past its share loses the connection that waits longest, and nobody else does', async () => {
  const listening = await limited((_request, response) => void response.end('done'), { total: 10, perSource: 2 });
  const other = await open(listening.port, '127.0.0.9');
  const [first, second] = [await open(listening.port, '127.0.0.2'), await open(listening.port, '127.0.0.2')];
  for (const socket of [other, first, second, first]) expect(await ask(socket)).toBe('200');
  const gone = closed(second);
  const third = await open(listening.port, '127.0.0.2');
  await gone;
  for (const socket of [other, first, third]) expect(await ask(socket)).toBe('200');
  await listening.stop(1);
});

test('where all connections are held, the source that has most makes room for a newcomer', async () => {
  const listening = await limited((_request, response) => void response.end('done'));
  const lone = await open(listening.port, '127.0.0.9');
  const held = [await open(listening.port, '127.0.0.2'), await open(listening.port, '127.0.0.2')] as const;
  for (const socket of [lone, ...held]) expect(await ask(socket)).toBe('200');
  const gone = closed(held[0]);
  const newcomer = await open(listening.port, '127.0.0.3');
  expect(await ask(newcomer)).toBe('200');
  await gone;
  for (const socket of [lone, held[1]]) expect(await ask(socket)).toBe('200');
  await listening.stop(1);
});

test('what is being answered is never cut for a newcomer, and a body that does not come is', async () => {
  const streams: ServerResponse[] = [];
  const listening = await limited((request, response) => {
    if (request.method === 'POST') return;
    streams.push(response.writeHead(200));
    response.write('on');
  });
  const busy = [await open(listening.port, '127.0.0.2'), await open(listening.port, '127.0.0.2')] as const;
  for (const socket of busy) expect(await ask(socket)).toBe('200');
  const refused = await open(listening.port, '127.0.0.2');
  await closed(refused);
  const slow = await open(listening.port, '127.0.0.3');
  slow.write('POST / HTTP/1.1\r\nHost: mesh\r\nContent-Length: 5\r\n\r\n');
  const gone = closed(slow);
  const newcomer = await open(listening.port, '127.0.0.4');
  expect(await ask(newcomer)).toBe('200');
  await gone;
  streams[0]?.write('and on');
  expect(String(await once(busy[0], 'data'))).toContain('and on');
  await listening.stop(1);
});

test('a request whose sender reset the connection before it was accepted is not carried out', async () => {
  const origins: string[] = [];
  const serve: RequestListener = (request, response) => {
    origins.push(`${request.url} ${originOf(request)}`);
    response.end('done');
  };
  const listening = await listen(serve, { host: '127.0.0.1', port: 0 });
  const done = new Int32Array(new SharedArrayBuffer(4));
  const sender = new Worker(SEND_AND_RESET, { eval: true, workerData: { port: listening.port, done } });
  await once(sender, 'message');
  sender.postMessage('go');
  // This thread accepts nothing meanwhile.
  expect(Atomics.wait(done, 0, 0, 20_000)).not.toBe('timed-out');
  await (await fetch(`${listening.url}/after`)).text();
  expect(origins).toEqual(['/after 127.0.0.1']);
  await sender.terminate();
  await listening.stop(1);
});

const SEND_AND_RESET = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { connect } = require('node:net');
  parentPort.once('message', () => {
    const socket = connect(workerData.port, '127.0.0.1', () => {
      socket.write('DELETE /reset HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n', () => socket.resetAndDestroy());
    });
    socket.once('close', () => {
      Atomics.store(workerData.done, 0, 1);
      Atomics.notify(workerData.done, 0);
    });
  });
  parentPort.postMessage('ready');
`;
