import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askAgent, localSocketPath, NoAgent, openAgentStream, openHeld, serveLocally } from './local-socket.ts';

let directory: string;
let name: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'mesh-agent-'));
  name = localSocketPath(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const silent = () => {};
const log = { error: silent, warn: silent, info: silent, debug: silent };
const echo = () => serveLocally(name, async (request) => ({ heard: request }), log);

/** Returns the answer to raw bytes. */
function answerTo(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection(name);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.write(bytes);
  });
}

test('a request is answered on a socket that only its owner may open', async () => {
  const server = await echo();
  expect(await askAgent(name, { ask: 'hurry', peer: 'web' })).toEqual({ heard: { ask: 'hurry', peer: 'web' } });
  expect((statSync(name).mode & 0o777).toString(8)).toBe('600');
  await server.close();
  await expect(askAgent(name, { ask: 'status' })).rejects.toThrow(NoAgent);
});

test('what the agent refuses is told in its own words', async () => {
  const refuse = async () => {
    throw new Error('This node knows no peer web.');
  };
  const server = await serveLocally(name, refuse, log);
  await expect(askAgent(name, { ask: 'hurry', peer: 'web' })).rejects.toThrow('This node knows no peer web.');
  await server.close();
});

test.each([
  ['no JSON', 'hello\n'],
  ['an unknown request', '{"ask":"everything"}\n'],
  ['a field too many', '{"ask":"status","as":"root"}\n'],
  ['an endless line', 'x'.repeat(20_000)],
])('%s is refused and the agent goes on', async (_what, bytes) => {
  const server = await echo();
  expect(await answerTo(bytes)).not.toContain('heard');
  expect(await askAgent(name, { ask: 'status' })).toEqual({ heard: { ask: 'status' } });
  await server.close();
});

test('the socket of a connection is the connection, in both directions', async () => {
  const peer = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(peer, 'listening');
  const { port } = peer.address() as AddressInfo;
  const server = await serveLocally(name, async () => connect(port, '127.0.0.1'), log);
  const stream = await openAgentStream(name, { ask: 'connect', address: '10.96.0.2', port: 80 });
  stream.end('to and fro');
  let text = '';
  for await (const chunk of stream) text += chunk;
  expect(text).toBe('to and fro');
  await server.close();
  peer.close();
  const refused = await serveLocally(name, async () => connect(port, '127.0.0.1'), log);
  await expect(openAgentStream(name, { ask: 'connect', address: '10.96.0.2', port: 80 })).rejects.toThrow(
    'ECONNREFUSED',
  );
  await refused.close();
});

test('a port is served until the one that asked for it is gone, or the agent ends', async () => {
  let over: Promise<unknown> | undefined;
  const handle = async (_request: unknown, ended: AbortSignal) => {
    over = once(ended, 'abort');
    return {};
  };
  const server = await serveLocally(name, handle, log);
  const request = { ask: 'serve', port: 80, host: '127.0.0.1', toPort: 8080 } as const;
  const stream = await openAgentStream(name, request);
  stream.destroy();
  await over;
  const other = await openAgentStream(name, request);
  const ended = once(other.resume(), 'end');
  await server.close();
  await ended;
  other.destroy();
});

test('a UDP port that is forwarded is answered with its number, and lasts until its socket closes', async () => {
  let over: Promise<unknown> | undefined;
  const handle = async (_request: unknown, ended: AbortSignal) => {
    over = once(ended, 'abort');
    return { port: 5_353 };
  };
  const server = await serveLocally(name, handle, log);
  const held = await openHeld(name, { ask: 'forward', local: 0, address: '10.96.0.2', port: 53 });
  expect(held.answer).toEqual({ port: 5_353 });
  held.socket.destroy();
  await over;
  await server.close();
});

test('a socket that a killed agent left is taken over', async () => {
  writeFileSync(name, '');
  const server = await echo();
  expect(await askAgent(name, { ask: 'status' })).toEqual({ heard: { ask: 'status' } });
  await server.close();
});

test('a directory whose path is too long for a socket has it elsewhere', () => {
  expect(localSocketPath(`/${'d'.repeat(120)}`)).toMatch(/^\/var\/run\/mesh\/[0-9a-f]{32}\.sock$/);
});
