import { expect, test } from 'vitest';
import { usedAddresses } from './used-addresses.ts';

const NAMES: Record<string, string[]> = { 'mesh.test': ['192.0.2.1', '2001:db8::1'], 'relay.test': ['192.0.2.7'] };
const resolve = async (host: string) => {
  const found = NAMES[host];
  if (!found) throw new Error(`no ${host}`);
  return found;
};
const place = (url: string) => ({ url, name: 'x', credential: 'c', expiresAt: '2026-01-01T00:00:00.000Z' });

test('a node uses the addresses of control plane, bus, relays, STUN servers and DNS, names as they resolve now', async () => {
  const places = { server: 'https://mesh.test:18090', signalingUrl: 'nats://10.1.0.1:4222' };
  const graph = {
    relay: place('lrps://relay.test:6266'),
    relays: [place('10.2.0.1:6266'), place('lrp://[fd00::2]:6266')],
    stun: ['10.3.0.1:3478', 'gone.test:3478'],
  };
  const resolvers = () => ['10.9.0.2'];
  expect(await usedAddresses({ ...places, relayOverride: { host: '10.4.0.1' } }, graph, resolve, resolvers)).toEqual([
    { of: 'the control plane', address: '192.0.2.1' },
    { of: 'the control plane', address: '2001:db8::1' },
    { of: 'the bus', address: '10.1.0.1' },
    { of: 'a relay', address: '192.0.2.7' },
    { of: 'a relay', address: '10.2.0.1' },
    { of: 'a relay', address: 'fd00::2' },
    { of: 'a relay', address: '10.4.0.1' },
    { of: 'a STUN server', address: '10.3.0.1' },
    { of: 'the DNS resolver of this host', address: '10.9.0.2' },
  ]);
});

test('a resolver that is the node itself is in the tunnel, and is none that a block would take', async () => {
  const places = { server: 'http://10.1.0.1:18090', signalingUrl: 'nats://10.1.0.1:4222' };
  const self = { id: 'p_1', name: 'a', address: '10.96.0.1', cidr: '10.96.0.0/24', phase: 'ready' } as const;
  const graph = { self, relay: null, stun: [] };
  const used = await usedAddresses(places, graph, resolve, () => ['10.96.0.1', '10.96.0.53']);
  expect(used.map(({ address }) => address)).toEqual(['10.1.0.1', '10.96.0.53']);
});
