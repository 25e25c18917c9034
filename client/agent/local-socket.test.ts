import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { askAgent, localSocketPath, NoAgent, serveLocally } from './local-socket.ts';

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

test('a socket that a killed agent left is taken over', async () => {
  writeFileSync(name, '');
  const server = await echo();
  expect(await askAgent(name, { ask: 'status' })).toEqual({ heard: { ask: 'status' } });
  await server.close();
});

test('a directory whose path is too long for a socket has it elsewhere', () => {
  expect(localSocketPath(`/${'d'.repeat(120)}`)).toMatch(/^\/var\/run\/mesh\/[0-9a-f]{32}\.sock$/);
});
