import { expect, test } from 'vitest';
import { Secret } from '../../core/base/secret.ts';
import { assertionLines, partAddresses, scimLines } from './announce.ts';
import { loadConfig } from './config.ts';

const NONE = { bus: undefined, relay: undefined, stun: undefined };
const KEPT = { MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' };

test('a start names the records, the relay and the STUN servers that are elsewhere', () => {
  const own = loadConfig({ MESH_BUS_LISTEN: 'off', ...KEPT }, '/var/lib/mesh');
  expect(partAddresses(own, NONE)).toEqual({
    data: 'data in /var/lib/mesh',
    bus: 'off (MESH_BUS_LISTEN)',
    relay: 'off (MESH_RELAY_LISTEN)',
    stun: 'off (MESH_STUN_LISTEN)',
  });
  const env = {
    ...KEPT,
    MESH_STORE_URL: 'mongodb://mesh:secret@db1/mesh',
    MESH_BUS_URL: 'nats://n1:4222,nats://n2:4222',
    MESH_RELAY_URL: 'relay.example.net:6266',
    MESH_STUN_URL: 'stun.example.net:3478',
  };
  const elsewhere = loadConfig(env, '/var/lib/mesh');
  const listed = { ...elsewhere, app: { ...elsewhere.app, stun: ['eu.example.net:3478'] } };
  expect(partAddresses(listed, NONE)).toEqual({
    data: 'records where MESH_STORE_URL says, all else in /var/lib/mesh',
    bus: 'n1:4222, n2:4222',
    relay: 'relay.example.net:6266 (MESH_RELAY_URL)',
    stun: 'stun.example.net:3478 (MESH_STUN_URL) and eu.example.net:3478 (app.stun)',
  });
  expect(partAddresses(listed, { ...NONE, stun: { host: '0.0.0.0', port: 3478 } }).stun).toBe(
    '0.0.0.0:3478 and eu.example.net:3478 (app.stun)',
  );
});

test('a start names the issuers that tell by SCIM who there is, without their tokens, and no endpoint where none does', () => {
  const config = loadConfig({ MESH_BUS_LISTEN: 'off', ...KEPT }, '/var/lib/mesh');
  expect(scimLines(config, 'http://127.0.0.1:18090')).toEqual([]);
  const issuer = { clientId: 'mesh', admits: 'everyone' as const, grants: [], scopes: [] };
  const scim = { claim: 'sub', token: new Secret('a'.repeat(32)) };
  const oidc = [
    { ...issuer, name: 'corp', issuer: 'https://id.example.com', scim },
    { ...issuer, name: 'open', issuer: 'https://open.example.com' },
  ];
  expect(scimLines({ ...config, app: { ...config.app, oidc } }, 'http://127.0.0.1:18090')).toEqual([
    '  SCIM       http://127.0.0.1:18090/scim/v2   (corp)',
  ]);
});

test('a start names the clients that may bring identity assertions, without their secrets, and nothing where none may', () => {
  const config = loadConfig({ MESH_BUS_LISTEN: 'off', ...KEPT }, '/var/lib/mesh');
  expect(assertionLines(config, 'http://127.0.0.1:18090')).toEqual([]);
  const clients = [
    { id: 'assistant', secret: new Secret('a'.repeat(32)) },
    { id: 'editor', secret: new Secret('b'.repeat(32)) },
  ];
  const oauth = { ...config.app.oauth, issuer: 'https://id.example.com', identityAssertions: { clients } };
  expect(assertionLines({ ...config, app: { ...config.app, oauth } }, 'http://127.0.0.1:18090')).toEqual([
    '  Assertions http://127.0.0.1:18090/oauth/token   (assistant, editor)',
  ]);
});
