import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { freshDirectory } from '../../test/meshd.ts';
import type { LabHost } from '../../test/natlab.ts';

const PORT = 51_999;
const MTU = '1280';

/** Debian's wireguard-go between two hosts, set up by hand: what a tunnel costs without Mesh. Addresses 10.200.0.1 and .2. */
export async function plainWireGuard(left: LabHost, right: LabHost): Promise<void> {
  const ends = [left, right].map((host, index) => ({
    host,
    pair: generateKeyPair(),
    address: `10.200.0.${index + 1}`,
    // All hosts share the directory of wireguard-go's control sockets, so each needs a name of its own.
    device: `plain${index}p${process.pid % 100_000}`,
  }));
  for (const { host, device } of ends) await host.must('wireguard-go', [device]);
  for (const [index, { host, pair, device, address }] of ends.entries()) {
    const other = ends[1 - index];
    if (!other?.host.address) throw new Error(`${host.name} needs a neighbour with an IPv4 address.`);
    const keyFile = path.join(freshDirectory(), 'key');
    writeFileSync(keyFile, Buffer.from(pair.privateKey).toString('base64'), { mode: 0o600 });
    const peer = [Buffer.from(other.pair.publicKey).toString('base64'), 'allowed-ips', `${other.address}/32`];
    const settings = ['set', device, 'listen-port', `${PORT}`, 'private-key', keyFile, 'peer', ...peer];
    await host.must('wg', [...settings, 'endpoint', `${other.host.address}:${PORT}`]);
    await host.must('ip', ['addr', 'add', `${address}/24`, 'dev', device]);
    await host.must('ip', ['link', 'set', device, 'mtu', MTU, 'up']);
  }
}
