import { once } from 'node:events';
import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

const SECONDS = 3;
const PACKET_BYTES = 1_312;

describePrivileged('bursts by way of the relay', () => {
  it('stay coalesced, and WireGuard accepts each of their packets', async () => {
    await using lab = await natlab({ hosts: { a: { family: 'ipv4' }, b: { family: 'ipv4' } } });
    await using plane = await startLabPlane(lab);
    await lab.host('b').block('udp dport 51820');
    const { a, b } = await labNodes(lab, plane, ['a', 'b']);
    const { address } = await a.untilPeer('b', ({ path }) => path === 'relayed');
    await b.untilPeer('a', ({ path }) => path === 'relayed');

    const server = b.host.spawn('iperf3', ['-s', '-1', '-B', address, '--forceflush']);
    if (server.stdout) await once(server.stdout, 'data');
    await a.host.must('iperf3', ['-c', address, '-t', `${SECONDS}`], { timeoutMs: 30_000 });

    const [sent, received] = [(await a.status()).relay.sentPackets, (await b.status()).relay.receivedPackets];
    const { text } = await plane.call('GET', '/metrics');
    const frames = Number(/^mesh_relay_forwarded_frames_total (\d+)$/m.exec(text)?.[1]);
    expect(sent).toBeGreaterThan(20_000);
    expect(frames).toBeLessThan(sent / 5);
    // The relay may drop what a slow receiver does not take; what comes through is whole.
    const arrived = (await acceptedBytes(b)) / PACKET_BYTES;
    expect(arrived / received).toBeGreaterThan(0.995);
    await Promise.all([a.stop(), b.stop()]);
  });
});

async function acceptedBytes({ host, interfaceName }: LabNode): Promise<number> {
  const [, received] = (await host.must('wg', ['show', interfaceName, 'transfer'])).split('\t');
  return Number(received);
}
