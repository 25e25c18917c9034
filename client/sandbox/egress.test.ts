import { once } from 'node:events';
import { createServer as createWebServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { type Destination, parseDestination } from './destination.ts';
import { type EgressUse, serveEgress } from './egress.ts';
import { MAX_CONNECTIONS, type Opening } from './opening.ts';

const NAMED = ['api.example.com:443', 'http://plain.example.com:80', 'away.example.com:443'];
const INSIDE = [
  '10.0.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '224.0.0.1',
  '100.64.0.1',
  '::1',
  'fe80::1',
  'fd00::1',
];
const TRANSLATED = ['::ffff:10.0.0.1', '64:ff9b::7f00:1', '2002:a9fe:a9fe::1', '64:ff9b:1::1'];

let tls: Server | ReturnType<typeof createTlsServer>;
let web: Server;
let egress: Opening;
let port: number;
let uses: EgressUse[];
let lookups: string[];
let reached: string[];
let found: string[];
let lines: string[];
/** Resolves a look-up; undefined: at once. */
let dns: Promise<void> | undefined;

beforeEach(async () => {
  [uses, lookups, reached, found, lines, dns] = [[], [], [], ['8.8.8.8'], [], undefined];
  tls = createTlsServer(testCertificate, (socket) => socket.end('hello of the server')).listen(0, '127.0.0.1');
  web = createWebServer((incoming, response) => {
    const { host, via } = incoming.headers;
    response.end(`${incoming.method} ${incoming.url} ${host} ${via} ${incoming.headers['proxy-authorization']}`);
  }).listen(0, '127.0.0.1');
  await Promise.all([once(tls, 'listening'), once(web, 'listening')]);
  await start();
});
afterEach(async () => {
  await egress.close();
  web.closeAllConnections();
  tls.close();
  web.close();
});

async function start(limits = {}): Promise<void> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  ({ port } = listener.address() as AddressInfo);
  egress = await serveEgress(listener, {
    destinations: NAMED.map((text) => parseDestination(text) as Destination),
    onUse: (use) => void uses.push(use),
    log: { ...silentLog, warn: (_fields, text) => void lines.push(text) },
    limits,
    lookup: async (host) => {
      lookups.push(host);
      await dns;
      return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
    connect({ host, port: asked, lookup }) {
      lookup(host, { all: true }, (_error, all) => reached.push(`${JSON.stringify(all)} ${asked}`));
      if (host.startsWith('away')) return connect(1, '127.0.0.1');
      return connect(((asked === 80 ? web : tls).address() as AddressInfo).port, '127.0.0.1');
    },
  });
}

/** @returns the status of the answer, and the connection where it is 200 */
async function tunnel(target: string): Promise<{ status: number | undefined; socket: Socket }> {
  const outgoing = request({ host: '127.0.0.1', port, method: 'CONNECT', path: target, agent: false }).end();
  const [response, socket] = await once(outgoing, 'connect');
  return { status: response.statusCode, socket };
}

/** Resolves at the end of a connection, in whichever way. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => {}).once('close', () => resolve());
  });
}

/** Returns the answer that a TLS client gets through a tunnel; undefined where the tunnel ended first. */
async function overTls(target: string, servername: string): Promise<string | undefined> {
  const { status, socket } = await tunnel(target);
  expect(status).toBe(200);
  const client = connectTls({ socket, servername, rejectUnauthorized: false });
  return new Promise((resolve) => {
    client.once('data', (bytes) => resolve(String(bytes)));
    client.once('error', () => resolve(undefined));
    client.once('close', () => resolve(undefined));
  });
}

it('connects a tunnel to a named destination, at the address that it looked up once', async () => {
  expect(await overTls('API.example.com:443', 'api.example.com')).toBe('hello of the server');
  expect(lookups).toEqual(['api.example.com']);
  expect(reached).toEqual(['[{"address":"8.8.8.8","family":4}] 443']);
  expect(uses).toEqual([{ destination: 'api.example.com:443', outcome: 'opened' }]);
});

it('passes plain HTTP where it is named so, with the host of its destination whatever the program wrote', async () => {
  const get = async (path: string) => {
    const headers = { host: 'internal.example', 'proxy-authorization': 'x' };
    const [response] = await once(request({ host: '127.0.0.1', port, path, headers, agent: false }).end(), 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    return [response.statusCode, text];
  };
  expect(await get('http://plain.example.com/a')).toEqual([200, 'GET /a plain.example.com undefined undefined']);
  expect((await get('http://api.example.com:443/a'))[0]).toBe(403);
  expect((await get('http://plain.example.com:81/a'))[0]).toBe(403);
  expect((await get('/a'))[0]).toBe(400);
  expect(reached).toHaveLength(1);
});

it.each([
  'other.example.com:443',
  'api.example.com:8443',
  'plain.example.com:80',
  '8.8.8.8:443',
  '127.0.0.1:22',
  '[::1]:80',
])('refuses a tunnel to %s, which is not named, without looking it up', async (target) => {
  expect((await tunnel(target)).status).toBe(403);
  expect(lookups).toEqual([]);
  expect(uses).toMatchObject([{ outcome: 'refused' }]);
});

it.each([...INSIDE, ...TRANSLATED])(
  'refuses a named destination whose name has the address %s besides',
  async (address) => {
    found = ['8.8.8.8', address];
    expect((await tunnel('api.example.com:443')).status).toBe(403);
    expect(reached).toEqual([]);
  },
);

it('judges translated addresses as the IPv4 address that they lead to', async () => {
  found = ['64:ff9b::808:808', '::ffff:8.8.8.8', '2606:4700::1111'];
  expect(await overTls('api.example.com:443', 'api.example.com')).toBe('hello of the server');
});

it('ends a tunnel whose TLS names another server, or none, before the destination gets a byte', async () => {
  const got: Buffer[] = [];
  tls.on('connection', (socket: Socket) => socket.on('data', (bytes) => got.push(bytes)));
  expect(await overTls('api.example.com:443', 'other.example.com')).toBe(undefined);
  expect(await overTls('api.example.com:443', '')).toBe(undefined);
  const { socket } = await tunnel('api.example.com:443');
  socket.write('SSH-2.0-exfiltrate\r\n');
  await closed(socket);
  expect(got).toEqual([]);
  expect(uses.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'refused']);
});

it('ends a tunnel in which no ClientHello comes in time, however slowly its bytes trickle', async () => {
  await egress.close();
  await start({ requestMs: 100 });
  const { socket } = await tunnel('api.example.com:443');
  socket.write(Buffer.from([22, 3, 1]));
  await closed(socket);
  expect(uses).toMatchObject([{ outcome: 'refused', reason: expect.stringContaining('ClientHello') }]);
});

it('looks a name up once for many requests, connects for none whose program left, and refuses too many that wait', async () => {
  const resolver = Promise.withResolvers<void>();
  dns = resolver.promise;
  const head = 'CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n';
  /** Once it is answered, the server has read whatever came before. */
  const settle = async () => {
    const [response] = await once(request({ host: '127.0.0.1', port, path: '/', agent: false }).end(), 'response');
    await text(response);
  };
  for (let count = 0; count < MAX_CONNECTIONS; count += 64) {
    const sockets = Array.from({ length: 64 }, () => connect(port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.write(head, resolve))));
    await settle();
    for (const socket of sockets) socket.resetAndDestroy();
    await settle();
  }
  expect(uses).toEqual([]);
  expect((await tunnel('api.example.com:443')).status).toBe(504);
  expect(uses).toMatchObject([{ outcome: 'failed', reason: expect.stringContaining('too many') }]);
  resolver.resolve();
  await vi.waitUntil(() => uses.length === MAX_CONNECTIONS + 1);
  expect(lookups).toEqual(['api.example.com']);
  expect(reached).toEqual([]);
  expect(lines).toHaveLength(1);
});

it('says that a destination does not answer', async () => {
  expect((await tunnel('away.example.com:443')).status).toBe(504);
  expect(uses).toMatchObject([{ destination: 'away.example.com:443', outcome: 'failed' }]);
});

it.each([
  'api.example.com',
  '8.8.8.8:443',
  '[::1]:443',
  'localhost:443',
  'api.example.com:0',
  'https://api.example.com:443',
  'a b:1',
  '0x7f.1:80',
])('takes %s for no destination', (text) => {
  expect(parseDestination(text)).toContain('Write api.example.com:443');
});
