import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { graphOf } from '../client/agent/overlay.testkit.ts';
import { generateKeyPair } from '../net/seal/x25519.ts';
import { collected } from './node-bugreport.ts';

const random = () => randomBytes(32).toString('base64url');
const key = () => Buffer.from(generateKeyPair().privateKey).toString('base64');
const publicKey = () => Buffer.from(generateKeyPair().publicKey).toString('base64');

/** One of every secret that a node, a login and a person leave in files, settings and logs. */
const secrets = {
  deviceToken: `mesh-dev-${random()}`,
  agentToken: `mesh-agt-${random()}`,
  privateKey: key(),
  nextPrivateKey: key(),
  draftKey: key(),
  relayCredential: random(),
  session: `s_${random()}`,
  joinToken: `mesh-join-${random()}-0123456789abcdef`,
  delegateToken: `mesh-dlg-${random()}-0123456789abcdef`,
  apiToken: `mesh-api-${random()}`,
  password: `horse ${randomBytes(6).toString('hex')} battery`,
  foreign: `x${randomBytes(8).toString('hex')}`,
  unknownField: `u${randomBytes(8).toString('hex')}`,
  busPassword: `b${randomBytes(8).toString('hex')}`,
};

function plantedNode() {
  const home = mkdtempSync(path.join(tmpdir(), 'bugreport-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const [directory, logs] = [path.join(home, 'node'), path.join(home, 'log')];
  mkdirSync(directory);
  mkdirSync(logs);
  const peer = publicKey();
  const put = (name: string, value: unknown) =>
    writeFileSync(path.join(directory, name), typeof value === 'string' ? value : JSON.stringify(value), {
      mode: 0o600,
    });
  put('node.json', {
    server: 'https://mesh.example.net',
    id: 'p_self',
    name: 'self',
    workspaceId: 'w_1',
    controlKey: publicKey(),
    deviceToken: secrets.deviceToken,
    privateKey: secrets.privateKey,
    nextPrivateKey: secrets.nextPrivateKey,
    agentToken: secrets.agentToken,
    later: { thing: secrets.unknownField },
    signalingUrl: `nats://node:${secrets.busPassword}@mesh.example.net:4222`,
  });
  put('node.key', secrets.draftKey);
  const [first] = graphOf(['db-1']).peers;
  const credential = secrets.relayCredential;
  const address = `lrp://${credential}@relay.example.net:6266`;
  const relay = { url: 'relay.example.net:6266', credential, address, expiresAt: '2030-01-01T00:00:00.000Z' };
  put('graph.json', graphOf([], { peers: first ? [{ ...first, publicKey: peer }] : [], relay }));
  put('known-peers.json', { [peer]: ['203.0.113.7:51820', '[2001:db8::7]:51820'] });
  put('session.json', { server: 'https://mesh.example.net', token: secrets.session, username: 'ada' });
  const hex = (text: string) => Buffer.from(text, 'base64').toString('hex');
  const lines = [
    'up as db-1',
    'db-1: ice-ready: The peer answers at 203.0.113.7:51820, and at [2001:db8::7]:51820.',
    `private_key=${hex(secrets.privateKey)}`,
    `set ${hex(secrets.nextPrivateKey)}`,
    `key ${secrets.draftKey} of peer ${peer}`,
    `ran mesh init --token ${secrets.joinToken}`,
    `mesh://join?server=https%3A%2F%2Fx&token=${secrets.delegateToken}`,
    `{"authorization":"Bearer ${secrets.apiToken}"}`,
    `dialled lrp://${secrets.relayCredential}@relay:6266 and ${secrets.relayCredential}`,
    `login with ${secrets.password}, ${encodeURIComponent(secrets.password)}`,
    `cloud ${secrets.foreign}, session ${secrets.session}, ${secrets.unknownField}`,
    `tokens ${secrets.deviceToken} ${secrets.agentToken} nats://x:${secrets.busPassword}@bus`,
  ];
  const logged = lines.map((line) => `2026-01-01T00:00:00.000Z info  ${line}\n`);
  writeFileSync(path.join(logs, 'mtest0.log'), [...logged, 'sudo: ada: /bin/login swordfish\n'].join(''));
  vi.stubEnv('MESH_PASSWORD', secrets.password);
  vi.stubEnv('MESH_TOKEN', secrets.apiToken);
  vi.stubEnv('CLOUD_SECRET_ACCESS_KEY', secrets.foreign);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { put, peer, options: { configDir: directory, interface: 'mtest0', logDir: logs } };
}

function expectNone(report: string): void {
  for (const [name, secret] of Object.entries(secrets)) {
    const raw = secret.split('-').at(-1) === '0123456789abcdef' ? secret.slice(0, -17) : secret;
    const forms = [raw, raw.slice(-24), encodeURIComponent(raw), Buffer.from(raw).toString('base64')];
    if (/=$/.test(raw))
      forms.push(Buffer.from(raw, 'base64').toString('hex'), Buffer.from(raw, 'base64').toString('base64url'));
    for (const form of forms) expect([name, report.includes(form)]).toEqual([name, false]);
  }
}

test('a report has none of the secrets of its node, in whatever form, and what helps', async () => {
  const { peer, options } = plantedNode();
  const report = await collected(options, '0.2.0');
  expectNone(report);
  expect(report).not.toContain('swordfish');
  for (const text of [
    'version 0.2.0',
    'https://mesh.example.net',
    'up as db-1',
    'answers at 203.0.113.7:51820, and at [2001:db8::7]:51820.',
    '600',
    'graph.json',
    'MESH_PASSWORD',
    peer,
  ])
    expect(report).toContain(text);
});

test('a report on files that are damaged has no secrets either', async () => {
  const { put, options } = plantedNode();
  put(
    'node.json',
    `{"deviceToken":"${secrets.deviceToken}","privateKey":"${secrets.privateKey}","later":"${secrets.unknownField}", oh`,
  );
  put('graph.json', `{"relay":{"credential":"${secrets.relayCredential}"`);
  const { nextPrivateKey: _1, agentToken: _2, busPassword: _3, ...left } = secrets;
  const report = await collected(options, '0.2.0');
  expect(report).toContain('is damaged');
  for (const secret of Object.values(left)) expect(report).not.toContain(secret);
});
