import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { type DoorLimits, serveDoor } from './door.ts';
import type { Opening } from './opening.ts';

const TOKEN = 'mesh-agt-the-token';
const DOCUMENT = {
  paths: {
    '/api/v1/peers': { get: { 'x-required-scope': 'network:read' } },
    '/api/v1/peers/{id}': {
      get: { 'x-required-scope': 'network:read' },
      delete: { 'x-required-scope': 'network:write' },
    },
    '/api/v1/plans': { post: { 'x-required-scope': 'intents:plan', 'x-required-read-scope': 'network:read' } },
    '/api/v1/users/login': { post: { 'x-required-scope': 'public' } },
    '/api/v1/devices/register': { post: { 'x-required-scope': 'enrolment' } },
    '/api/v1/devices/self': { delete: { 'x-required-scope': 'device' } },
    '/api/v1/users/me/password': { put: { 'x-required-scope': 'person' } },
    '/api/v1/workflows/{id}/approve': { post: { 'x-required-scope': 'workflows:approve' } },
    '/api/v1/events': { get: { 'x-required-scope': 'network:read' } },
    '/metrics': { get: { 'x-required-scope': 'network:read' } },
  },
};

let plane: Server;
let door: Opening | undefined;
let port: number;
let asked: IncomingMessage[];
let answer: (incoming: IncomingMessage, response: ServerResponse) => void;
let isEnded: boolean;

beforeEach(async () => {
  asked = [];
  isEnded = false;
  answer = (incoming, response) => {
    response.setHeader('set-cookie', 'mesh-session=x');
    incoming.pipe(response);
  };
  plane = createServer((incoming, response) => {
    const json = (status: number, value: object) => response.writeHead(status).end(JSON.stringify(value));
    if (isEnded)
      return json(401, { code: 'unauthenticated', title: 'Authentication required', detail: 'It has ended.' });
    if (incoming.url === '/api/v1/openapi.json') return json(200, DOCUMENT);
    if (incoming.url === '/api/v1/agents/self')
      return json(200, { scopes: ['network:read', 'intents:plan', 'workflows:approve'] });
    asked.push(incoming);
    answer(incoming, response);
  }).listen(0, '127.0.0.1');
  await once(plane, 'listening');
  await start();
});
afterEach(async () => {
  await door?.close();
  plane.closeAllConnections();
  plane.close();
});

async function start(limits: Partial<DoorLimits> = {}): Promise<void> {
  await door?.close();
  const listener = createTcpServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  ({ port } = listener.address() as AddressInfo);
  const server = `http://127.0.0.1:${(plane.address() as AddressInfo).port}`;
  door = await serveDoor(listener, { server, token: TOKEN, log: silentLog, limits });
}

async function ask(method: string, path: string, { headers = {}, body }: { headers?: object; body?: string } = {}) {
  const outgoing = request({ host: '127.0.0.1', port, method, path, headers: { ...headers }, agent: false });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

it('passes what the scopes of its agent allow, with the token added outside and none of what the inside says of itself', async () => {
  const headers = {
    authorization: 'Bearer mesh-api-another',
    cookie: 'mesh-session=a.b.c',
    'x-forwarded-for': '203.0.113.9',
    forwarded: 'for=203.0.113.9',
    'x-request-id': 'chosen-inside',
    'proxy-authorization': 'Basic eDp5',
    'content-type': 'application/json',
    'x-workspace-id': 'prod',
  };
  const { status, headers: answered, text } = await ask('POST', '/api/v1/plans?dry=1', { headers, body: '{"a":1}' });
  expect([status, text, answered['set-cookie']]).toEqual([200, '{"a":1}', undefined]);
  const [{ url, headers: passed } = { url: '', headers: {} }] = asked;
  expect(url).toBe('/api/v1/plans?dry=1');
  expect(passed).toEqual({
    authorization: `Bearer ${TOKEN}`,
    'content-length': '7',
    'content-type': 'application/json',
    'x-workspace-id': 'prod',
    via: '1.1 mesh-sandbox',
    'x-request-id': expect.stringMatching(/^sandbox-r_/),
    host: expect.stringMatching(/^127\.0\.0\.1:/),
    connection: 'keep-alive',
  });
});

it.each([
  ['POST', '/api/v1/users/login'],
  ['POST', '/api/v1/devices/register'],
  ['DELETE', '/api/v1/devices/self'],
  ['PUT', '/api/v1/users/me/password'],
  ['POST', '/api/v1/workflows/w_1/approve'],
  ['DELETE', '/api/v1/peers/p_1'],
  ['GET', '/api/v1/unknown'],
  ['GET', '/'],
  ['GET', '/assets/index.js'],
  ['GET', '/metrics'],
  ['GET', '/healthz'],
  ['HEAD', '/api/v1/peers'],
  ['PUT', '/mcp'],
  ['GET', '/mcp/more'],
  ['GET', '//api/v1/peers'],
  ['GET', '/api/v1/peers/'],
  ['GET', '/api/v1/peers/..'],
  ['GET', '/api/v1/peers/%2e%2e'],
  ['GET', '/api/v1/peers/a%2fb'],
  ['GET', '/api/v1/peers/%zz'],
  ['GET', '/api/v1/peers/..%2f..%2fusers%2flogin'],
  ['GET', 'http://elsewhere.example/api/v1/peers'],
])('does not pass %s %s', async (method, path) => {
  const { status, text } = await ask(method, path);
  expect([status, method === 'HEAD' ? 'forbidden' : JSON.parse(text).code]).toEqual([403, 'forbidden']);
  expect(asked).toEqual([]);
});

it('answers an ended token with the error of the control plane, and works once the agent is let in', async () => {
  isEnded = true;
  const { status, text } = await ask('GET', '/api/v1/peers');
  expect([status, JSON.parse(text)]).toMatchObject([401, { code: 'unauthenticated', detail: 'It has ended.' }]);
  isEnded = false;
  expect((await ask('GET', '/api/v1/peers')).status).toBe(200);
  isEnded = true;
  expect((await ask('GET', '/api/v1/peers')).status).toBe(401);
});

it('passes a stream of events as it comes, and ends it at the control plane when its reader leaves', async () => {
  let closed: Promise<unknown> | undefined;
  answer = (_incoming, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    closed = once(response, 'close');
    setImmediate(() => response.write('data: 1\n\n'));
  };
  const outgoing = request({ host: '127.0.0.1', port, path: '/api/v1/events', agent: false }).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(String((await once(response, 'data'))[0])).toBe('data: 1\n\n');
  outgoing.destroy();
  await closed;
});

it('refuses a body that is too long, whether its length is said or not, and too many requests', async () => {
  await start({ bodyBytes: 10, requestsPerMinute: 4 });
  const body = 'x'.repeat(11);
  expect((await ask('POST', '/mcp', { body })).status).toBe(413);
  expect((await ask('POST', '/mcp', { body, headers: { 'transfer-encoding': 'chunked' } })).status).toBe(413);
  expect((await ask('POST', '/mcp', { body: '1234567890', headers: { 'transfer-encoding': 'chunked' } })).text).toBe(
    '1234567890',
  );
  expect((await ask('GET', '/api/v1/peers')).status).toBe(200);
  const { status, headers } = await ask('GET', '/api/v1/peers');
  expect([status, Number(headers['retry-after'])]).toEqual([429, expect.any(Number)]);
});

it('sends no body with a GET, so that no second request hides in it', async () => {
  const hidden = 'POST /api/v1/users/login HTTP/1.1\r\nHost: x\r\n\r\n';
  expect((await ask('GET', '/api/v1/peers', { body: hidden, headers: { 'content-length': hidden.length } })).text).toBe(
    '',
  );
  expect((await ask('GET', '/api/v1/peers', { body: hidden, headers: { 'transfer-encoding': 'chunked' } })).text).toBe(
    '',
  );
  expect(asked.map(({ method }) => method)).toEqual(['GET', 'GET']);
});

it('switches to no other protocol and opens no tunnel', async () => {
  for (const head of [
    'GET /api/v1/peers HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n',
  ]) {
    const socket = connect(port, '127.0.0.1');
    socket.write(head);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 501 /);
    socket.destroy();
  }
  expect(asked).toEqual([]);
});

it('follows no redirect, and says so where the control plane is away or does not begin to answer', async () => {
  answer = (_incoming, response) => response.writeHead(302, { location: 'http://elsewhere.example/' }).end();
  const redirected = await ask('GET', '/api/v1/peers');
  expect([redirected.status, redirected.headers.location]).toEqual([503, undefined]);
  await start({ answerMs: 300 });
  answer = () => {};
  expect((await ask('GET', '/api/v1/peers')).status).toBe(503);
  plane.closeAllConnections();
  plane.close();
  expect(JSON.parse((await ask('GET', '/api/v1/peers')).text).detail).toContain('does not answer');
});
