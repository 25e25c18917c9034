import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { callApi } from './api.ts';

async function serving(handler: Parameters<typeof createServer>[1]) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

test('a password goes to no other server that the named one sends it on to', async () => {
  const stolen: string[] = [];
  await using thief = await serving((request, response) => {
    stolen.push(String(request.url));
    response.end('{}');
  });
  await using named = await serving((_request, response) => {
    response.writeHead(307, { location: `${thief.url}/login`, connection: 'close' }).end();
  });
  const login = { method: 'POST', path: '/api/v1/users/login', body: { password: 'secret' }, anonymous: true } as const;
  await expect(callApi({ server: named.url, token: undefined, workspace: undefined }, login)).rejects.toThrow(
    `sends this on to ${thief.url}/login`,
  );
  expect(stolen).toEqual([]);
});

test.each([200, 400])(
  'an answer of status %i that is small and unpacks to far more is not read to its end',
  async (status) => {
    const bomb = gzipSync(Buffer.alloc(260 * 1_048_576));
    await using server = await serving((_request, response) => {
      response.writeHead(status, { 'content-encoding': 'gzip', connection: 'close' }).end(bomb);
    });
    const target = { server: server.url, token: undefined, workspace: undefined };
    await expect(callApi(target, { method: 'GET', path: '/api/v1/audit/keys', anonymous: true })).rejects.toThrow(
      /did not end its answer \(more than \d+ bytes\)/,
    );
  },
);
