import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { NodeConfig } from '../../client/enrol/node-config.ts';
import { LOST_KEYS_PER_HOUR } from '../../core/model/key-allowance.ts';
import { nodeKeyOf } from '../../net/bus/node-key.ts';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { agree, importPrivateKey } from '../../net/seal/x25519.ts';
import { joined, linkOf } from '../kits/http/control-node.ts';
import { freshWorkspace, startHarness } from '../kits/http/harness.ts';
import { freshKey } from '../kits/plane/devices.ts';
import { expectWithin, stopwatch } from '../kits/process/stopwatch.ts';
import { hasNatsServer, startTokenCluster } from '../kits/servers/nats-cluster.ts';

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of open.splice(0).reverse()) await end();
});
const trusted = getCACertificates();
beforeAll(() => setDefaultCACertificates([...trusted, testCertificate.cert]));
afterAll(() => setDefaultCACertificates(trusted));

/** A node is off the bus so soon after it was revoked, wherever it is connected. */
const CUT_OFF_MS = 2_000;

/** Three servers with what `meshd bus-config` writes, and a control plane and its workspace. */
async function tokenBus(scheme: 'nats' | 'tls') {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-bus-'));
  open.push(() => rmSync(directory, { recursive: true, force: true }));
  const [cert, key] = [path.join(directory, 'cert.pem'), path.join(directory, 'key.pem')];
  writeFileSync(cert, testCertificate.cert);
  writeFileSync(key, testCertificate.key);
  const tls = scheme === 'tls' ? `tls { cert_file: "${cert}", key_file: "${key}" }` : '';
  const cluster = await startTokenCluster(directory, tls);
  open.push(() => cluster[Symbol.asyncDispose]());
  const urls = cluster.places.map((place) => `${scheme}://${place}`);
  const env = {
    MESH_BUS_URL: urls.join(','),
    MESH_SIGNALING_AUTH: 'token',
    MESH_BUS_KEYS_FILE: cluster.keysFile,
    ...(scheme === 'tls' && { MESH_BUS_CA: cert }),
  };
  const harness = await startHarness({ env });
  open.push(() => harness[Symbol.asyncDispose]());
  await expect.poll(async () => (await harness.api('GET', '/readyz')).body).toEqual({ status: 'ready' });
  const place = await harness.workspace();
  const join = async (name: string, server: number) => joined(harness, place, name, urls[server] ?? '');
  return { cluster, urls, env, harness, place, join };
}

function freshKeyBody() {
  return { publicKey: freshKey().publicKey };
}

async function started(config: NodeConfig) {
  const node = linkOf(config);
  open.push(() => node.link.stop());
  await node.link.start();
  await node.until(() => node.link.status.bus.isUp);
  return node;
}

function keyOf({ privateKey, controlKey, id }: NodeConfig) {
  const shared = agree(importPrivateKey(Buffer.from(privateKey, 'base64')), Buffer.from(controlKey, 'base64'));
  return nodeKeyOf(shared ?? new Uint8Array(), id);
}

/** A client with what a node signs in with, which does what no node does. */
async function clientAs(config: NodeConfig, server: string, jwt = config.busJwt ?? '', key = keyOf(config)) {
  const sig = (nonce = '') => Buffer.from(key.sign(Buffer.from(nonce))).toString('base64url');
  const nats = await connect({
    servers: server,
    reconnect: false,
    authenticator: (nonce) => ({ jwt, sig: sig(nonce) }),
    inboxPrefix: `_INBOX.${config.id}`,
  });
  open.push(() => nats.close());
  return nats;
}

/** What a server refuses to that client, as it says it. */
async function refusalsOf(nats: NatsConnection, act: () => void): Promise<string[]> {
  const refusals: string[] = [];
  const heard = (async () => {
    for await (const status of nats.status()) if (status.type === 'error') refusals.push(status.error.message);
  })();
  act();
  await nats.flush();
  await nats.close();
  await heard;
  return refusals;
}

describe.skipIf(!hasNatsServer)('a bus of three servers that knows nodes by a key', () => {
  test('nodes sign in over TLS and find each other; what a node may not do there it cannot', async () => {
    const { urls, env, join, harness } = await tokenBus('tls');
    const [idA, idB] = [await join('a', 0), await join('b', 1)];
    const [a, b] = [await started(idA), await started(idB)];
    await a.until(() => String(a.peers()) === 'b');
    // Until the servers have told each other who listens, nothing is passed on.
    const heard = () => {
      a.link.publish(`mesh.${idB.workspaceId}.${idB.id}.signal`, Buffer.from('hello'));
      return b.signals;
    };
    await expect.poll(heard).toContain('hello');

    const own = await clientAs(idA, urls[2] ?? '');
    const [ws, other] = [idA.workspaceId, idB.id];
    const forbidden = {
      hear: [
        `mesh.${ws}.${other}.signal`,
        `mesh.${ws}.${other}.graph`,
        'mesh.control.>',
        `_INBOX.${other}.>`,
        '>',
        '$SYS.>',
      ],
      say: [
        ...[`mesh.${ws}.${idA.id}.graph`, `mesh.${ws}.${other}.graph`, `mesh.control.${ws}.${other}.heartbeat`],
        ...['mesh.another.p.signal', `_INBOX.${other}.x`, '$SYS.REQ.CLAIMS.UPDATE'],
      ],
    };
    const refusals = await refusalsOf(own, () => {
      for (const subject of forbidden.hear) own.subscribe(subject, { callback: () => {} });
      for (const subject of forbidden.say) own.publish(subject, 'forged');
    });
    expect(refusals).toEqual([
      ...forbidden.hear.map((subject) => `Permissions Violation for Subscription to "${subject}"`),
      ...forbidden.say.map((subject) => `Permissions Violation for Publish to "${subject}"`),
    ]);
    // Of no use to who does not hold the key of the node.
    await expect(clientAs(idB, urls[0] ?? '', idA.busJwt)).rejects.toThrow('Authorization Violation');
    await expect(connect({ servers: urls[0] ?? '', reconnect: false })).rejects.toThrow('Authorization Violation');
    const keys = JSON.parse(readFileSync(env.MESH_BUS_KEYS_FILE, 'utf8'));
    const secrets = [keys.users, keys.accounts, keys.plane.seed, keys.system.seed, keyOf(idA).publicKey];
    for (const secret of secrets) expect(harness.log.join('\n')).not.toContain(secret);
  });

  test('a node that is revoked, deleted or has another key is cut off within two seconds, however many connections it has, and does not come back', async () => {
    const { cluster, urls, env, join, harness, place } = await tokenBus('nats');
    const identities = [await join('a', 0), await join('b', 1), await join('c', 2)] as const;
    const clients = await Promise.all(identities.map((identity, n) => clientAs(identity, urls[n] ?? '')));
    const others = await Promise.all(Array.from({ length: 30 }, (_, n) => clientAs(identities[0], urls[n % 3] ?? '')));
    const [{ deviceToken: token }] = [identities[2]];
    const cutOff = async (n: number, act: () => Promise<{ status: number }>) => {
      const closed = clients[n]?.closed();
      const sinceAsked = stopwatch();
      const { status } = await act();
      expect(status).toBeLessThan(300);
      await closed;
      expectWithin(sinceAsked(), CUT_OFF_MS);
    };
    await cutOff(0, () => harness.api('POST', '/api/v1/peers/a/revoke', { ...place, body: {} }));
    await Promise.all(others.map((nats) => nats.closed()));
    await cutOff(1, () => harness.api('DELETE', '/api/v1/peers/b', place));
    const { publicKey } = freshKey();
    await cutOff(2, () => harness.api('POST', '/api/v1/devices/self/key', { token, body: { publicKey } }));

    const areRefused = async () => {
      for (const identity of identities) {
        for (const url of urls) await expect(clientAs(identity, url)).rejects.toThrow('Authorization Violation');
      }
    };
    await areRefused();
    // Nor at a server that was away meanwhile, nor through a control plane that begins anew.
    await cluster.members[1]?.kill();
    const late = await join('late', 0);
    await harness.api('DELETE', '/api/v1/peers/late', place);
    await cluster.members[1]?.start();
    await expect
      .poll(() => clientAs(late, urls[1] ?? '').then((nats) => nats.close(), String), { timeout: 20_000 })
      .toContain('Authorization Violation');
    await harness.stop();
    await using again = await startHarness({ directory: harness.directory, env });
    await expect.poll(async () => (await again.api('GET', '/readyz')).body).toEqual({ status: 'ready' });
    await areRefused();
  });

  test('of a server that is killed the log names it alone, as a warning, and one line says that all know again who was revoked', async () => {
    const { cluster, harness } = await tokenBus('nats');
    type Line = { readonly level: string; readonly msg: string; readonly server?: string };
    const lines = () => harness.log.map((line): Line => JSON.parse(line));
    const isLost = ({ msg }: Line) => msg.includes('by which all are told who was revoked');
    const isOver = ({ msg }: Line) => msg === 'the servers of the bus know again who was revoked';
    const upTo = lines().length;
    const since = () => lines().slice(upTo);
    // One of them has the connection.
    for (const member of cluster.members) {
      await member.kill();
      await expect
        .poll(async () => (await harness.api('GET', '/readyz?verbose')).body.checks, { timeout: 10_000 })
        .toContainEqual(expect.objectContaining({ name: 'bus revocations', state: 'ok' }));
      await member.start();
    }
    const told = () => since().filter((line) => isLost(line) || isOver(line));
    await expect.poll(() => told().filter(isLost).length, { timeout: 10_000 }).toBeGreaterThan(0);
    await expect.poll(() => told().at(-1)?.msg, { timeout: 10_000 }).toContain('know again');
    const named = told().filter(isLost);
    expect(named.map(({ level }) => level)).toEqual(named.map(() => 'warn'));
    expect(cluster.places).toEqual(expect.arrayContaining(named.map(({ server }) => server)));
    expect(told().filter(isOver)).toHaveLength(named.length);
    expect(since().filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('a workspace that lost too many places is told when it gets the next key, and others go on', async () => {
    const { join, harness, place } = await tokenBus('nats');
    const elsewhere = await freshWorkspace(harness.api, 'elsewhere');
    const [{ deviceToken: token }, late] = [await join('a', 0), await join('late', 0)];
    const { keyAllowance, clock } = harness.plane.services;
    /** By an hour and a minute ago anything that was lost since is too much. */
    const wasLost = () => keyAllowance?.requireRoom(place.workspace, clock.now() - 3_660_000);
    expect(wasLost).not.toThrow();
    expect((await harness.api('DELETE', `/api/v1/peers/${late.id}`, place)).status).toBeLessThan(300);
    expect(wasLost).toThrow('wait');
    keyAllowance?.lost(place.workspace, LOST_KEYS_PER_HOUR + 10, clock.now());
    const refused = await harness.api('POST', '/api/v1/devices/self/key', { token, body: freshKeyBody() });
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await joined(harness, elsewhere, 'b', harness.plane.services.settings.signalingUrl);
    await expect
      .poll(() => harness.api('POST', '/api/v1/devices/self/key', { token, body: freshKeyBody() }), { timeout: 30_000 })
      .toMatchObject({ status: 200 });
  });

  test('a node that holds nothing to sign in with asks for it, and is given it by the API', async () => {
    const { join, harness } = await tokenBus('nats');
    const { busJwt = '', ...config } = await join('a', 0);
    const node = await started(config);
    expect(node.saved().busJwt).not.toBe(undefined);
    expect(busJwt).not.toBe('');
    const { body } = await harness.api('GET', '/api/v1/devices/self/bus', { token: config.deviceToken });
    expect(body).toEqual({ signalingUrl: harness.plane.services.settings.signalingUrl, busJwt: expect.any(String) });
  });
});
