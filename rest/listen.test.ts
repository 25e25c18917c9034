import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
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

test('whoever asks in the moment after the end has begun is told so, on a kept connection and on a new one', async () => {
  const listening = await listen((_request, response) => void response.end('done'), { host: '127.0.0.1', port: 0 });
  using agent = disposable(new Agent({ keepAlive: true, maxSockets: 1 }));
  const before = await ask(listening.url, agent);
  const drained = listening.drain(60_000);
  const kept = await ask(listening.url, agent, 'x'.repeat(200_000));
  const fresh = await ask(`${listening.url}/readyz`);
  expect([before, kept, fresh]).toEqual([
    { status: 200, connection: 'keep-alive', isReused: false },
    { status: 503, connection: 'close', isReused: true },
    { status: 503, connection: 'close', isReused: false },
  ]);
  await drained;
  await expect(ask(listening.url)).rejects.toThrow('ECONNREFUSED');
});

test('a kept connection on which nobody asks does not hold the end up', async () => {
  const listening = await listen((_request, response) => void response.end('done'), { host: '127.0.0.1', port: 0 });
  using agent = disposable(new Agent({ keepAlive: true, maxSockets: 1 }));
  await ask(listening.url, agent);
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

async function ask(url: string, agent?: Agent, body = '') {
  const call = request(url, { method: 'POST', ...(agent && { agent }) });
  call.end(body);
  const [response] = await once(call, 'response');
  await text(response);
  return { status: response.statusCode, connection: response.headers.connection, isReused: call.reusedSocket };
}

function disposable(agent: Agent): Agent & Disposable {
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}
