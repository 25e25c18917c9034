import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mesh } from '../kits/process/run-command.ts';

const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('a key press waits for no server that is away: it offers what is known without it', async () => {
  const away = { MESH_SERVER: 'http://127.0.0.1:9' };
  expect(await mesh(['__complete', '--', 'peers', 'w'], { home, env: away })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  expect((await mesh(['__complete', '--', 'peers', '--phase', 'r'], { home, env: away })).stdout).toBe(
    'ready\nrevoked\n',
  );
});

test('a name that a shell could act on is not offered', async () => {
  const names = ['$(id)', '`id`', '*', '--token', 'a b', 'a;b', '\u009b2J', 'web-1'];
  const items = names.map((name) => ({ id: 'p_1', name }));
  const server = createServer((_, answer) => void answer.end(JSON.stringify({ items }))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { MESH_SERVER: url, MESH_TOKEN: 'mesh-api-x', MESH_WORKSPACE: 'w' };
  for (const words of [['peers'], ['allow', 'web-1'], ['deny', 'web-1', 'db-1', '--except-to'], ['allow', '--through']])
    expect((await mesh(['__complete', '--', ...words, ''], { home, env })).stdout).toBe('web-1\n');
  server.close();
});
