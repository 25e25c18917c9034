import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { relaySession } from '../../test/kits/http/relay-socket.ts';
import { testCertificate } from '../nats/test-certificate.ts';
import { generateKeyPair } from '../seal/x25519.ts';
import { mintCredential, relayKeysOf, workspaceTagOf } from './credential.ts';
import { RelayListener, type RelayListenerOptions } from './listener.ts';
import { RemoteRelay } from './remote.ts';

const TOKEN = 'shared-token';
const HOUR_MS = 3_600_000;
const clock = { now: Date.now };
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function relay(options: Partial<RelayListenerOptions> = {}) {
  const listener = new RelayListener({ host: '127.0.0.1', port: 0, token: TOKEN, clock, drainMs: 0, ...options });
  undo.push(() => listener.stop());
  return { listener, port: (await listener.start()).port };
}

const memberOf = ({ publicKey } = generateKeyPair()) => ({ workspace: workspaceTagOf('w'), publicKey });

function remote(port: number, options: Partial<ConstructorParameters<typeof RemoteRelay>[0]> = {}) {
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { error: note, warn: note, info: note, debug: () => undefined };
  const address = { host: '127.0.0.1', port, secure: false };
  const control = new RemoteRelay({ address, token: TOKEN, clock, log, random: () => 0, ...options });
  undo.push(() => control.stop());
  control.start();
  return { control, lines };
}

test('it tells a relay of everything revoked before it came, and takes back what was allowed meanwhile', async () => {
  const [gone, back] = [memberOf(), memberOf()];
  const first = await relay();
  const { control } = remote(first.port);
  await expect.poll(() => control.problem).toBeUndefined();
  control.revoke(back, Date.now() + HOUR_MS);
  await expect.poll(() => control.metrics().confirmed).toBe(1);
  await first.listener.stop();
  await expect.poll(() => control.problem).toMatch(/is away/);
  control.revoke(gone, Date.now() + HOUR_MS);
  control.allow(back);
  control.allow(memberOf());
  await relay({ port: first.port });
  await expect.poll(() => control.metrics()).toEqual({ up: 1, connects: 2, revocations: 1, sent: 3, confirmed: 3 });
});

test('a key that is revoked is refused, and let in again once it is allowed', async () => {
  const { port } = await relay();
  const { control } = remote(port);
  const pair = generateKeyPair();
  const expiresAt = Date.now() + HOUR_MS;
  const grant = { workspace: workspaceTagOf('w'), publicKey: pair.publicKey, expiresAt };
  const credential = mintCredential(relayKeysOf(TOKEN), grant);
  await expect.poll(() => control.problem).toBeUndefined();
  control.revoke(memberOf(pair), expiresAt);
  await expect.poll(() => control.metrics().confirmed).toBe(1);
  using refused = await relaySession(port, pair, credential);
  expect((await refused.next('closed')).reason).toBe('revoked');
  control.allow(memberOf(pair));
  await expect.poll(() => control.metrics().confirmed).toBe(2);
  using welcome = await relaySession(port, pair, credential);
  await welcome.next('ready');
});

test.each([
  ['has another token', { token: 'guess' }, {}, 'set the same MESH_LRP_AUTH_TOKEN on both'],
  ['speaks TLS', {}, { tls: testCertificate }, 'one with TLS is addressed as lrps://<host>:<port>'],
])('a relay that %s is named with what to do', async (_which, options, listening, advice) => {
  const { port } = await relay(listening);
  const { control, lines } = remote(port, options);
  await expect.poll(() => control.problem).toContain(advice);
  expect(lines.filter((line) => line.startsWith('the relay is away'))).toHaveLength(1);
});

test('a relay with TLS whose certificate is not trusted hears nothing', async () => {
  const { port } = await relay({ tls: testCertificate });
  const { control } = remote(port, { address: { host: '127.0.0.1', port, secure: true } });
  await expect.poll(() => control.problem).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
});

test('a relay that never answers is given up after ten seconds and tried again', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  undo.push(() => silent.close());
  await once(silent, 'listening');
  let now = Date.now();
  const { port } = silent.address() as AddressInfo;
  const { control } = remote(port, { clock: { now: () => now } });
  const [first] = await once(silent, 'connection');
  undo.push(() => first.destroy());
  now += 11_000;
  await expect.poll(() => control.problem).toContain('it does not answer');
  const [second] = await once(silent, 'connection');
  undo.push(() => second.destroy());
});
