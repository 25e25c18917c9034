import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { RUN_DIRECTORY } from '../../client/run-directory.ts';
import { expectHeard } from '../kits/lab/heard.ts';
import { type LabHost, natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import type { Target } from '../kits/lab/natlab-packets.ts';
import { labParts } from '../kits/lab/natlab-parts.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

const PACKETS = { count: 20, intervalMs: 20 };
/** Of the host itself: a node answers questions for names on the port for that. */
const PORT = 7_000;
const [GATE, PEER] = ['10.96.0.1', '10.96.0.2'];
const tcp = (address: string, port: number): Target => ({ protocol: 'TCP', address, port });

/**
 * `gate` is a node that forwards for a network behind it, to which it publishes a port; `peer` is another node, and
 * `stranger` a host on the link to the internet that knows where the overlay is. Any two nodes may talk.
 */
async function gateway() {
  const lab = await natlab({
    routers: { gate: { nat: 'none' } },
    hosts: { peer: {}, stranger: {}, inner: { behind: 'gate' } },
  });
  const gateHost = lab.host('gate');
  await gateHost.must('nft', ['flush', 'ruleset']);
  const plane = await startLabPlane(lab);
  const nodes = await labNodes(lab, plane, ['gate', 'peer'], (node) => node.up());
  await nodes.peer.untilPeer('gate', ({ path }) => path === 'direct');
  await nodes.gate.untilPeer('peer', ({ path }) => path === 'direct');
  // Before an agent is killed: what it has not set up by then nobody does.
  expect(await nodes.peer.host.reaches(GATE)).toBe(true);
  const stop = async () => {
    await plane[Symbol.asyncDispose]();
    await lab[Symbol.asyncDispose]();
  };
  return { lab, ...nodes, stranger: lab.host('stranger'), inner: lab.host('inner'), [Symbol.asyncDispose]: stop };
}

/** Counts what a host receives for itself or passes on, behind every filter. */
async function counting(host: LabHost, match: string) {
  const table = `counting_${tables++}`;
  const chain = (hook: string) =>
    `chain c_${hook} { type filter hook ${hook} priority 900; ${match} counter name seen; }\n`;
  await host.nft(`table inet ${table} {\ncounter seen { }\n${chain('input')}${chain('forward')}}\n`);
  return async () => {
    const shown = await host.must('nft', ['list', 'counter', 'inet', table, 'seen']);
    return Number(/packets (\d+)/.exec(shown)?.[1]);
  };
}
let tables = 0;

/** Takes the firewall of a node away for good, as whoever owns its machine can: its agent would put it back, and its guard deny. */
async function disarm(node: LabNode): Promise<void> {
  const { host, interfaceName } = node;
  process.kill((await node.status()).node.pid, 'SIGKILL');
  await host.must('nft', ['delete', 'table', 'inet', `mesh_${interfaceName}`]);
  writeFileSync(path.join(RUN_DIRECTORY, interfaceName, 'guard'), 'quit\n');
  await expect.poll(() => host.must('nft', ['list', 'tables'])).not.toContain('mesh_guard');
}

describePrivileged('a node among hostile neighbours', () => {
  it('leads a peer with its own firewall removed nowhere but to its own address and what it publishes there', async () => {
    await using net = await gateway();
    const { gate, peer, inner } = net;
    await labParts(inner).serve([80]);
    const address = inner.address ?? '';
    await gate.host.nft(`table ip published {
chain pre { type nat hook prerouting priority dstnat; fib daddr type local tcp dport 8080 dnat to ${address}:80; }
}
`);
    await disarm(peer);
    const { interfaceName, host } = peer;
    const key = (await gate.status()).node.publicKey;
    await host.must('wg', ['set', interfaceName, 'peer', key, 'allowed-ips', `${GATE}/32,192.168.1.0/24`]);
    await host.must('ip', ['route', 'add', '192.168.1.0/24', 'dev', interfaceName, 'src', PEER]);
    const arrived = await counting(inner, `ip saddr ${PEER} icmp type echo-request`);
    const other = await counting(gate.host, `iifname "${gate.interfaceName}" meta l4proto icmp ip daddr != ${GATE}`);

    expect(await host.ping(GATE, PACKETS)).toEqual({ sent: 20, received: 20 });
    await expectHeard(labParts(host), [tcp(GATE, 8080), tcp(address, 80)], ['open', 'silent']);
    // A network behind the node, and the node's own address in it.
    for (const target of [address, '192.168.1.1']) expect((await host.ping(target, PACKETS)).received).toBe(0);
    expect([await arrived(), await other()]).toEqual([0, 0]);
  });

  it.each([0, 2])('hears from the overlay by the overlay interface alone, where rp_filter is %i', async (filter) => {
    await using net = await gateway();
    const { gate, peer, stranger } = net;
    const setting = `echo ${filter} | tee /proc/sys/net/ipv4/conf/*/rp_filter`;
    await gate.host.must('sh', ['-c', setting]);
    await labParts(gate.host).serve([PORT]);
    const underlay = gate.host.address ?? '';
    await stranger.must('ip', ['route', 'add', '10.96.0.0/24', 'via', underlay]);
    // An answer would go to the true holder of the address: what arrives is counted.
    await stranger.must('ip', ['address', 'add', `${PEER}/32`, 'dev', 'lo']);
    const arrived = await counting(gate.host, 'iifname "eth0" ip daddr 10.96.0.0/24');
    const spoofed = await counting(gate.host, `iifname "eth0" ip saddr ${PEER}`);
    const udp: Target = { protocol: 'UDP', address: GATE, port: PORT };

    for (const target of [GATE, PEER, underlay]) {
      await stranger.run('ping', ['-n', '-q', '-c', '5', '-i', '0.02', '-W', '1', '-I', PEER, target]);
    }
    await stranger.run('ping', ['-n', '-q', '-c', '5', '-i', '0.02', '-W', '1', GATE]);
    const parts = labParts(stranger);
    await expectHeard(parts, [udp, tcp(GATE, PORT)], ['silent', 'silent']);
    expect([await arrived(), await spoofed()]).toEqual([0, 0]);

    const toUnderlay: Target = { ...udp, address: underlay };
    await expectHeard(parts, [toUnderlay], ['open']);
    await expectHeard(labParts(peer.host), [udp], ['open']);
    await expectHeard(labParts(gate.host), [udp], ['open']);
  });
});
