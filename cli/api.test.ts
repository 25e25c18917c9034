import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
