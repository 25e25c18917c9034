import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Family } from '../../client/family.ts';
import { Loopback } from '../../client/relay/loopback.ts';
import { openHostLink } from '../../client/relay/loopback-link.ts';
import { silentLog } from '../../core/base/silent-log.ts';

/**
 * Opens the loopback of some peers with a socket in WireGuard's place, which sends one packet to every peer's endpoint. Each
 * is answered from there.
 *
 * @param had the family that the endpoints have then
 * @returns what came of it; the loopback stays until it is closed
 */
export async function tryLoopback(port: number, peers: number, wanted: Family = 'ipv6', had: Family = wanted) {
  const wireguard = createSocket(had === 'ipv6' ? 'udp6' : 'udp4');
  await once(wireguard.bind(port), 'listening');
  const report = { returned: 0, misplaced: 0, crossed: 0, admitMs: 0 };
  const loopback = await Loopback.open({
    openLink: openHostLink,
    wireguardPort: port,
    family: wanted,
    now: () => performance.now(),
    log: silentLog,
    onDrained() {},
    onPackets: (peer, packet, segment) => {
      if (Buffer.from(packet).toString('latin1', 1) === peer.publicKey) loopback.deliver(peer, packet, segment);
      else report.crossed += 1;
    },
  });
  const keys = Array.from({ length: peers }, (_, n) => Buffer.alloc(32, `key ${n}`).toString('base64'));
  const began = performance.now();
  await loopback.admit(keys);
  report.admitMs = performance.now() - began;
  wireguard.on('message', (packet, from) => {
    const isFromThere = loopback.endpointOf(packet.toString('latin1', 1))?.address === from.address;
    report[isFromThere && from.port === loopback.port ? 'returned' : 'misplaced'] += 1;
  });
  for (const key of keys) {
    const endpoint = loopback.endpointOf(key);
    if (endpoint) wireguard.send(Buffer.from(`\u0004${key}`, 'latin1'), endpoint.port, endpoint.address);
    await turn();
  }
  const end = performance.now() + 5_000;
  while (report.returned < peers && performance.now() < end) await turn();
  const endpoint = loopback.endpointOf(keys[0] ?? '')?.address;
  const shown = loopback.shownEndpointOf(keys[0] ?? '')?.address;
  /** Hands packets of the first peer to WireGuard. @returns those that it got, once the last of them has come */
  const deliver = async (packets: readonly Uint8Array[]) => {
    const got: Buffer[] = [];
    const [from, last] = [loopback.peer(keys[0] ?? ''), packets.at(-1)];
    const arrived = new Promise<void>((resolve) => {
      wireguard.on('message', (packet) => {
        got.push(packet);
        if (last && packet.equals(last)) resolve();
      });
    });
    for (const packet of packets) if (from) loopback.deliver(from, packet, 0);
    await arrived;
    return got;
  };
  const close = async () => {
    await loopback.close();
    wireguard.close();
  };
  return { report: { ...report, endpoint, shown }, deliver, close };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
