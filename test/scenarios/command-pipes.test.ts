import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launcher, run } from '../kits/process/run-command.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('a document that comes late over a pipe is read whole', async () => {
  // The warning of a server without TLS is what a command says before it reads.
  const args = ['apply', '-f', '-', '--server', 'http://0.0.0.0:9', '--token', 'mesh-api-x', '--workspace', 'w'];
  const child = spawn(launcher('mesh'), args, { env: { ...process.env, HOME: home, MESH_CONFIG_DIR: home } });
  await once(child.stderr, 'data');
  child.stdin.end('kind: Peer\n');
  expect(await text(child.stderr)).toContain('http://0.0.0.0:9 does not answer');
});

test('a reader that leaves ends a command as any other tool, without a stack', async () => {
  const unread = `mkfifo "$1"; : <"$1" & exec 3>"$1"; wait`;
  const script = `${unread}; for format in json yaml; do "$0" completion -o $format >&3; echo $?; done`;
  const { stdout, stderr } = await run('sh', ['-c', script, launcher('mesh'), path.join(home, 'pipe')], {
    env: { HOME: home, MESH_CONFIG_DIR: home },
  });
  expect([stdout, stderr]).toEqual(['141\n141\n', '']);
});

test('Ctrl-C ends a command that waits for an answer, as a shell sees with 130', async () => {
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  const args = ['peers', '--server', `http://127.0.0.1:${port}`, '--token', 'mesh-api-x', '--workspace', 'w'];
  const child = spawn(launcher('mesh'), args, { env: { ...process.env, HOME: home, MESH_CONFIG_DIR: home } });
  await once(silent, 'request');
  child.kill('SIGINT');
  const [code, signal] = await once(child, 'exit');
  expect(signal ?? code).toBe(signal === null ? 130 : 'SIGINT');
  silent.closeAllConnections();
  silent.close();
});
