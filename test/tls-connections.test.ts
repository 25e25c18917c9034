import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { originOf } from '../core/base/origin.ts';
import { testCertificate } from '../net/nats/test-certificate.ts';
import { listen } from '../rest/listen.ts';

test('connections of the API under TLS have the same shares as others, and leave them as they end', async () => {
  const listening = await listen((_request, response) => void response.end('done'), {
    host: '127.0.0.1',
    port: 0,
    tls: testCertificate,
    isShared: () => false,
    connections: { total: 3, perSource: 2 },
  });
  const secure = async () => {
    const socket = connect({ port: listening.port, host: '127.0.0.1', ca: testCertificate.cert });
    await once(socket, 'secureConnect');
    return socket;
  };
  const ask = async (socket: TLSSocket) => {
    socket.write('GET / HTTP/1.1\r\nHost: mesh\r\n\r\n');
    return String(await once(socket, 'data'));
  };
  const [first, second] = [await secure(), await secure()];
  for (const socket of [first, second, first]) expect(await ask(socket)).toMatch(/^HTTP\/1.1 200 /);
  const gone = Promise.withResolvers<void>();
  second.on('error', () => undefined).once('close', () => gone.resolve());
  const third = await secure();
  await gone.promise;
  for (const socket of [first, third]) expect(await ask(socket)).toMatch(/^HTTP\/1.1 200 /);
  third.end();
  await once(third, 'close');
  expect(await ask(await secure())).toMatch(/^HTTP\/1.1 200 /);
  expect(await ask(first)).toMatch(/^HTTP\/1.1 200 /);
  await listening.stop(1);
});

test('the origin of a request is known after its connection has ended', async () => {
  const origin = Promise.withResolvers<string>();
  const serve: RequestListener = (request, response) => {
    response.once('close', () => origin.resolve(`${originOf(request)} ${request.socket.destroyed}`));
    request.socket.destroy();
  };
  const listening = await listen(serve, { host: '127.0.0.1', port: 0, tls: testCertificate });
  const socket = connect({ port: listening.port, host: '127.0.0.1', ca: testCertificate.cert });
  socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(await origin.promise).toBe('127.0.0.1 true');
  socket.destroy();
  await listening.stop(1);
});
