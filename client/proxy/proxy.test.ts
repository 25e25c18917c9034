import { once } from 'node:events';
import { createServer as createWebServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { graphOf } from '../agent/overlay.testkit.ts';
import { Destinations } from './destinations.ts';
import { type RunningProxy, startProxy } from './proxy.ts';
import { readExactly } from './read-exactly.ts';

const CREDENTIAL = { password: 'the-password', file: '/nowhere' };
const REFUSED = Object.assign(new Error('policy'), { code: 'EACCES' });

let web: Server;
let reached: string[];
let proxy: RunningProxy;

/** A proxy to a network whose every address is one web server of this host, but for port 1, which no policy permits. */
async function start(isDirect = false, isOpen = false, requestMs = 60_000): Promise<RunningProxy> {
  const destinations = new Destinations({
    isDirect,
    connect: ({ address, port }) => {
      reached.push(`${address}:${port}`);
      const socket = connect((web.address() as AddressInfo).port, '127.0.0.1');
      if (port === 1) queueMicrotask(() => socket.destroy(REFUSED));
      return socket;
    },
  });
  destinations.use(graphOf(['web', 'db']));
  return startProxy({
    listen: { host: '127.0.0.1', port: 0 },
    destinations,
    ...(!isOpen && { credential: CREDENTIAL }),
    log: silentLog,
    requestMs,
  });
}

beforeEach(async () => {
  reached = [];
  web = createWebServer((incoming, response) => {
    response.end(
      `${incoming.method} ${incoming.url} ${incoming.headers.host} ${incoming.headers['proxy-authorization']}`,
    );
  }).listen(0, '127.0.0.1');
  await once(web, 'listening');
  proxy = await start();
});
afterEach(async () => {
  await proxy.close();
  web.close();
});

const portOf = ({ status }: RunningProxy) => Number(status.address.split(':')[1]);
const basic = (password: string) => ({
  'Proxy-Authorization': `Basic ${Buffer.from(`x:${password}`).toString('base64')}`,
});

async function get(path: string, headers: Record<string, string>, method = 'GET') {
  const outgoing = request({ host: '127.0.0.1', port: portOf(proxy), path, method, headers, agent: false }).end();
  const [response] = await once(outgoing, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, text };
}

/** Speaks SOCKS5 to the proxy. @returns the reply's code, or undefined where it closed before */
async function socks(host: string, port: number, password = CREDENTIAL.password): Promise<number | undefined> {
  const socket = connect(portOf(proxy), '127.0.0.1');
  socket.write(Buffer.from([5, 1, 2]));
  await readExactly(socket, 2);
  socket.write(Buffer.concat([Buffer.from([1, 1, 120, password.length]), Buffer.from(password)]));
  const [, refused] = await readExactly(socket, 2);
  if (refused !== 0) {
    socket.destroy();
    return undefined;
  }
  socket.write(
    Buffer.concat([Buffer.from([5, 1, 0, 3, host.length]), Buffer.from(host), Buffer.from([port >> 8, port & 255])]),
  );
  const [, code] = await readExactly(socket, 10);
  if (code === 0) {
    socket.write('GET /socks HTTP/1.0\r\n\r\n');
    expect((await readExactly(socket, 15)).toString()).toBe('HTTP/1.1 200 OK');
  }
  socket.destroy();
  return code;
}

it('passes a plain request on to a peer by name, without its password', async () => {
  const answer = await get('http://web:81/a?b', basic(CREDENTIAL.password));
  expect(answer).toEqual({ status: 200, text: 'GET /a?b web:81 undefined' });
  expect(reached).toEqual(['10.96.0.2:81']);
});

it.each(['GET', 'DELETE', 'POST'])(
  'passes the body of a %s that has no length as a body, never as a request of its own',
  async (method) => {
    const body = 'GET /inner HTTP/1.1\r\nHost: web\r\n\r\n';
    web.removeAllListeners('request').on('request', async (incoming, response) => {
      reached.push(`${incoming.method} ${incoming.url} ${await text(incoming)}`);
      response.end();
    });
    const headers = { ...basic(CREDENTIAL.password), 'Transfer-Encoding': 'chunked' };
    const options = { host: '127.0.0.1', port: portOf(proxy), path: 'http://web/outer', method, headers, agent: false };
    const [response] = await once(request(options).end(body), 'response');
    await text(response);
    expect(response.statusCode).toBe(200);
    expect(reached).toEqual(['10.96.0.2:80', `${method} /outer ${body}`]);
  },
);

it('connects by CONNECT and by SOCKS5 to names and addresses of the overlay', async () => {
  const outgoing = request({
    host: '127.0.0.1',
    port: portOf(proxy),
    method: 'CONNECT',
    path: 'db:443',
    headers: basic(CREDENTIAL.password),
  }).end();
  const [response, socket] = await once(outgoing, 'connect');
  expect(response.statusCode).toBe(200);
  socket.destroy();
  expect(await socks('WEB', 80)).toBe(0);
  expect(await socks('10.96.0.77', 80)).toBe(0);
  expect(reached).toEqual(['10.96.0.3:443', '10.96.0.2:80', '10.96.0.77:80']);
});

it('refuses what no policy permits, and all that is outside of the overlay', async () => {
  expect((await get('http://web:1/', basic(CREDENTIAL.password))).text).toContain('No policy permits');
  expect(await socks('web', 1)).toBe(2);
  expect((await get('http://example.com/', basic(CREDENTIAL.password))).status).toBe(403);
  expect(await socks('example.com', 80)).toBe(2);
  expect(await socks('localhost', 80)).toBe(2);
  expect(reached).toEqual(['10.96.0.2:1', '10.96.0.2:1']);
});

it('asks for the password, and takes no request that is in another form than that of a proxy', async () => {
  expect((await get('http://web/', {})).status).toBe(407);
  expect((await get('http://web/', basic('another'))).status).toBe(407);
  expect(await socks('web', 80, 'another')).toBe(undefined);
  expect((await get('/', basic(CREDENTIAL.password))).status).toBe(400);
  expect((await get('/', { Host: 'web' })).status).toBe(400);
  expect(reached).toEqual([]);
});

it('asks for none where it is open, and reaches other addresses where it may', async () => {
  await proxy.close();
  proxy = await start(true, true);
  expect(proxy.status).toMatchObject({ user: null, password: null });
  const { port } = web.address() as AddressInfo;
  expect((await get(`http://127.0.0.1:${port}/direct`, {})).text).toContain('GET /direct');
  expect(reached).toEqual([]);
});

it('takes another port where the one that is asked for is in use', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const destinations = new Destinations({ isDirect: false, connect: () => undefined });
  const other = await startProxy({ listen: { host: '127.0.0.1', port }, destinations, log: silentLog });
  expect(portOf(other)).not.toBe(port);
  await other.close();
  taken.close();
});

it.each([
  ['SOCKS', Buffer.from([5])],
  ['SOCKS', Buffer.from([5, 1, 2, 1])],
  ['HTTP', 'GET http://web/ HTTP/1.1\r\nHost: web\r\n'],
  ['HTTP', 'GET http://web/ HTTP/1.1\r\nHost: web\r\n\r\nGET http://web'],
])('closes a connection of %s that stays in the middle of a request', async (_, bytes) => {
  await proxy.close();
  proxy = await start(false, true, 50);
  const socket = connect(portOf(proxy), '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write(bytes);
  await once(socket, 'close');
});

it('keeps a connection open that waits for its peer for longer than a request may take', async () => {
  await proxy.close();
  web.removeAllListeners('request');
  const asked = once(web, 'request');
  proxy = await start(false, true, 50);
  const slow = get('http://web/', {});
  const [, response] = await asked;
  const other = connect(portOf(proxy), '127.0.0.1');
  await once(other, 'close');
  response.end('late');
  expect(await slow).toEqual({ status: 200, text: 'late' });
});
