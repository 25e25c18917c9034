import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { expect, onTestFinished, test, vi } from 'vitest';
import { localSocketPath, serveLocally } from '../client/agent/local-socket.ts';
import { writeNodeConfig } from '../client/enrol/node-config.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { generateKeyPair } from '../net/seal/x25519.ts';
import { mesh } from '../test/kits/process/run-command.ts';
import { nodeStatus, peerStatus } from '../test/kits/records/node-status.ts';
import { EXIT } from './exit.ts';
import { defineForward } from './node-forward.ts';

test.each([['0:db:80'], ['0:db:53', '--udp']])(
  'mesh forward %s ends when its node does, and leaves no connection',
  async (...args) => {
    const directory = mkdtempSync(path.join(tmpdir(), 'mesh-forward-'));
    const status = nodeStatus([peerStatus('db', { address: '127.0.0.1' })]);
    const agent = await serveLocally(localSocketPath(directory), async () => status, silentLog);
    vi.spyOn(process, 'getuid').mockReturnValue(0);
    const open = Promise.withResolvers<number>();
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      const local = /127\.0\.0\.1:(\d+) leads/.exec(String(text))?.[1];
      if (local !== undefined) open.resolve(Number(local));
      return true;
    });
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => {
      vi.restoreAllMocks();
      rmSync(directory, { recursive: true });
    });
    const command = new Command('forward').exitOverride();
    defineForward(command);
    const ended = command.parseAsync([...args, '--config-dir', directory], { from: 'user' });
    const failure = expect(ended).rejects.toMatchObject({ message: 'The node ended.', exitCode: EXIT.unavailable });
    const port = await open.promise;
    await agent.close();
    await failure;
    if (args.includes('--udp')) return;
    const late = connect(port, '127.0.0.1');
    await expect(once(late, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  },
);

test('mesh forward that cannot begin ends, though its node goes on', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-forward-'));
  const { publicKey, privateKey } = generateKeyPair();
  const base64 = (key: Uint8Array) => Buffer.from(key).toString('base64');
  const secrets = { privateKey: base64(privateKey), controlKey: base64(publicKey), deviceToken: 't' };
  const keys = { ...secrets, signalingUrl: '', tunnel: 'userspace' } as const;
  writeNodeConfig(directory, { server: 'http://h:1', id: 'p_self', name: 'self', workspaceId: 'w', ...keys });
  const { node, ...rest } = nodeStatus([peerStatus('db', { address: '127.0.0.1' })]);
  const status = { ...rest, node: { ...node, tunnel: 'userspace' } };
  const refused = 'No policy permits it.';
  const handle = async ({ ask }: { readonly ask: string }) => {
    if (ask === 'forward') throw new Error(refused);
    return status;
  };
  const agent = await serveLocally(localSocketPath(directory), handle, silentLog);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(async () => {
    taken.close();
    await agent.close();
    rmSync(directory, { recursive: true });
  });
  const forward = (...args: string[]) => mesh(['forward', ...args, '--config-dir', directory], { home: directory });
  const { port } = taken.address() as AddressInfo;
  expect(await forward(`${port}:db:80`)).toMatchObject({
    code: EXIT.conflict,
    stderr: expect.stringContaining('EADDRINUSE'),
  });
  expect(await forward('0:db:53', '--udp')).toMatchObject({
    code: EXIT.conflict,
    stderr: expect.stringContaining(refused),
  });
});
