import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { localSocketPath, serveLocally } from '../client/agent/local-socket.ts';
import type { NodeStatus } from '../client/agent/node-status.ts';
import { graphOf, peerOf } from '../client/agent/overlay.testkit.ts';
import { GraphFile } from '../client/control/graph-file.ts';
import { writeNodeConfig } from '../client/enrol/node-config.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { generateKeyPair } from '../net/seal/x25519.ts';
import { nodeStatus, peerStatus } from '../test/kits/records/node-status.ts';
import { EXIT } from './exit.ts';
import { definePing } from './node-ping.ts';

let replies: string[] = [];
beforeEach(() => {
  replies = [];
});

const rules = { in: [], out: [{ cidr: '10.96.0.2/32', protocol: 'TCP' as const, from: 22, to: 22 }] };
const base = nodeStatus([peerStatus('db', {})]);
const STATUS = { ...base, node: { ...base.node, id: 'p_self', name: 'self' } };

/** Pings once from a node of such a status, of which no echo comes back. @returns what a person reads */
async function ping(peer: string, status: NodeStatus = STATUS, answer = 'exit 1'): Promise<string> {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-ping-'));
  const { publicKey, privateKey } = generateKeyPair();
  const base64 = (key: Uint8Array) => Buffer.from(key).toString('base64');
  const control = base64(publicKey);
  const { server } = status.control;
  const keys = { privateKey: base64(privateKey), controlKey: control, deviceToken: 't', signalingUrl: '' };
  writeNodeConfig(directory, { server, id: 'p_self', name: 'self', workspaceId: 'w', ...keys });
  const allowedIps = ['10.96.0.2/32', '10.95.0.2/32'];
  const peers = [{ ...peerOf('db', 0), publicKey: control, allowedIps }];
  const { self } = graphOf([]);
  const former = { address: '10.95.0.1', cidr: '10.95.0.0/24' };
  new GraphFile(directory, 'p_self').write(graphOf([], { peers, self: { ...self, former } }, rules));
  writeFileSync(path.join(directory, 'ping'), `#!/bin/sh\n${answer}\n`);
  chmodSync(path.join(directory, 'ping'), 0o755);
  const agent = await serveLocally(localSocketPath(directory), async () => status, silentLog);
  const before = process.exitCode;
  vi.stubEnv('PATH', `${directory}:${process.env['PATH']}`);
  vi.spyOn(process, 'getuid').mockReturnValue(0);
  let told = '';
  vi.spyOn(console, 'log').mockImplementation((text) => {
    replies.push(String(text));
  });
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    told += String(text);
    return true;
  });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.exitCode = before;
    await agent.close();
    rmSync(directory, { recursive: true });
  });
  const command = new Command('ping').exitOverride();
  definePing(command);
  await command.parseAsync([peer, '-c', '1', '--config-dir', directory], { from: 'user' });
  if (answer === 'exit 1') expect(process.exitCode).toBe(EXIT.negative);
  return told;
}

test('mesh ping of a peer that answers as its path closes does not say that there is no path', async () => {
  const closed = nodeStatus([peerStatus('db', { path: null, endpoint: null, transport: 'probing' })]);
  const answer = 'echo "64 bytes from 10.96.0.2: icmp_seq=1 ttl=64 time=0.659 ms"';
  expect(await ping('db', { ...STATUS, peers: closed.peers }, answer)).toBe('');
  expect(replies).toEqual(['db (10.96.0.2) 0.659 ms']);
});

test('mesh ping of the address that a peer had before its network was renumbered finds the peer', async () => {
  const answer = 'echo "64 bytes from 10.96.0.2: icmp_seq=1 ttl=64 time=0.659 ms"';
  await ping('10.95.0.2', STATUS, answer);
  expect(replies).toEqual(['db (10.96.0.2) 0.659 ms direct via 203.0.113.7:51820']);
});

test('mesh ping on a node that refuses its block says that the overlay is down', async () => {
  const refused = {
    cidr: '10.96.0.0/24',
    code: 'own-network',
    reason: 'it overlaps eth0',
    remedy: 'Move it.',
  } as const;
  const down = { ...STATUS, peers: [], routes: { ...STATUS.routes, refused } };
  await expect(ping('db', down)).rejects.toThrow('The overlay of this node is down, because its block 10.96.0.0/24');
});

test('mesh ping of a peer to which policy lets no echo pass says what it lets pass', async () => {
  expect(await ping('db')).toBe('Policy lets this node open to db: TCP 22. An echo is ICMP, and cannot pass.\n');
});

test('mesh ping of a peer that policy hides says so, and how to ask which it is', async () => {
  await expect(ping('Web')).rejects.toMatchObject({
    exitCode: EXIT.notFound,
    message:
      'This node has no peer Web: no policy lets the two talk, or there is none of that name. ' +
      'Which of both: mesh admin list-peers --server https://mesh.example.net',
  });
});

test.each(['Self', 'p_self', STATUS.node.address ?? '', '10.95.0.1'])(
  'mesh ping of this node itself, as %s, says that it is',
  async (own) => {
    await expect(ping(own)).rejects.toMatchObject({
      exitCode: EXIT.input,
      message: `${own} is this node itself (10.96.0.1): name one of its peers.`,
    });
  },
);

test('mesh ping on a revoked node says that it was revoked, and who lets it in again how', async () => {
  const control = { ...STATUS.control, standing: 'revoked' as const };
  await expect(ping('db', { ...STATUS, control, peers: [] })).rejects.toMatchObject({
    exitCode: EXIT.notFound,
    message: expect.stringMatching(/^This node was revoked: .*mesh approve p_self --server https:/),
  });
});
