import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { freshInterface, type LabHost } from '../../test/kits/lab/natlab.ts';
import { base64 } from '../../test/kits/lab/natlab-parts.ts';
import { freshDirectory } from '../../test/kits/process/meshd.ts';

const PORT = 51_999;
const MTU = '1280';

/**
 * Debian's wireguard-go between two hosts, set up by hand: what a tunnel costs without Mesh. Addresses 10.200.0.1 and .2.
 *
 * Each in a session of its own, as a service and as the agent's is: Linux shares the processors between sessions (autogroup),
 * and a tunnel in the session of iperf3 is a fifth faster on two cores.
 */
export async function plainWireGuard(left: LabHost, right: LabHost): Promise<void> {
  const ends = [left, right].map((host, index) => ({
    host,
    pair: generateKeyPair(),
    address: `10.200.0.${index + 1}`,
    device: freshInterface(),
  }));
  for (const { host, device } of ends) await host.must('setsid', ['wireguard-go', device]);
  for (const [index, { host, pair, device, address }] of ends.entries()) {
    const other = ends[1 - index];
    if (!other?.host.address) throw new Error(`${host.name} needs a neighbour with an IPv4 address.`);
    const keyFile = path.join(freshDirectory(), 'key');
    writeFileSync(keyFile, base64(pair.privateKey), { mode: 0o600 });
    const peer = [base64(other.pair.publicKey), 'allowed-ips', `${other.address}/32`];
    const settings = ['set', device, 'listen-port', `${PORT}`, 'private-key', keyFile, 'peer', ...peer];
    await host.must('wg', [...settings, 'endpoint', `${other.host.address}:${PORT}`]);
    await host.must('ip', ['addr', 'add', `${address}/24`, 'dev', device]);
    await host.must('ip', ['link', 'set', device, 'mtu', MTU, 'up']);
  }
}
