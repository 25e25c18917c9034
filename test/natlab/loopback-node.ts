import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Loopback } from '../../client/relay/loopback.ts';

/**
 * Runs inside a lab's namespace: `node loopback-node.ts <wireguard port> <peers>`. A socket in WireGuard's place sends one
 * packet to every peer's endpoint, each is answered from there, and what came of it is printed. Then it waits to be ended.
 */
const [port = '', count = ''] = process.argv.slice(2);
const wireguard = createSocket(process.env['FAMILY'] === '4' ? 'udp4' : 'udp6');
wireguard.bind(Number(port));
await once(wireguard, 'listening');
const log = { error() {}, warn() {}, info() {}, debug() {} };
let crossed = 0;
const loopback = await Loopback.open({
  wireguardPort: Number(port),
  now: () => performance.now(),
  log,
  onPacket: (peer, packet) => {
    if (packet.toString('latin1', 1) === peer.publicKey) loopback.deliver(peer, packet);
    else crossed += 1;
  },
});
const keys = Array.from({ length: Number(count) }, (_, n) => Buffer.alloc(32, `key ${n}`).toString('base64'));
const began = performance.now();
await loopback.admit(keys);
const admitMs = performance.now() - began;
let returned = 0;
let misplaced = 0;
wireguard.on('message', (packet, from) => {
  const key = packet.toString('latin1', 1);
  if (loopback.endpointOf(key)?.address === from.address && from.port === loopback.port) returned += 1;
  else misplaced += 1;
});
for (const key of keys) {
  const endpoint = loopback.endpointOf(key);
  if (endpoint) wireguard.send(Buffer.from(`\u0004${key}`, 'latin1'), endpoint.port, endpoint.address);
  await new Promise((resolve) => setImmediate(resolve));
}
const end = performance.now() + 5_000;
while (returned < keys.length && performance.now() < end) await new Promise((resolve) => setImmediate(resolve));
const endpoint = loopback.endpointOf(keys[0] ?? '')?.address;
const shown = loopback.shownEndpointOf(keys[0] ?? '')?.address;
process.stdout.write(`${JSON.stringify({ returned, misplaced, crossed, endpoint, shown, admitMs })}\n`);
await once(process.stdin.resume(), 'end');
await loopback.close();
wireguard.close();
