import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { loadConfig } from './config.ts';
import { ownNames } from './own-names.ts';

const names = (env: Record<string, string>, publicUrls: string[] = [], tls?: { cert: string; key: string }) => {
  const config = loadConfig(env, '/nonexistent');
  return ownNames({ ...config, app: { ...config.app, publicUrls } }, tls);
};

test('a control plane is known by the machine, by where it listens and by what nodes are given', () => {
  const known = names({
    MESH_LISTEN: 'API.example:18090',
    MESH_SIGNALING_URL: 'nats://bus.example:4222',
    MESH_RELAY_ADVERTISE_URL: 'lrps://relay.example:6266',
    MESH_STUN_URL: 'stun.example:3478',
  });
  const machine = hostname().toLowerCase();
  for (const name of [machine, 'api.example', 'bus.example', 'relay.example', 'stun.example']) {
    expect([name, known.has(name)]).toEqual([name, true]);
  }
});

test("an address of somebody else's STUN server, relay or bus is no name of the control plane", () => {
  const known = names({
    MESH_SIGNALING_URL: 'nats://bus.example:4222',
    MESH_BUS_LISTEN: 'off',
    MESH_RELAY_URL: 'relay.example:6266',
    MESH_RELAY_LISTEN: 'off',
    MESH_STUN_URL: 'stun.example:3478',
    MESH_STUN_LISTEN: 'off',
  });
  expect(['bus.example', 'relay.example', 'stun.example'].filter((name) => known.has(name))).toEqual([]);
});

test('the certificate and app.publicUrls add names', () => {
  const known = names({}, ['https://Vpn.Example:8443/'], testCertificate);
  expect([known.has('vpn.example'), known.has('localhost')]).toEqual([true, true]);
});
