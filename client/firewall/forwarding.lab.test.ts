import { expect, it } from 'vitest';
import type { FirewallEntry } from '../../core/model/graph.ts';
import { expectHeard } from '../../test/kits/lab/heard.ts';
import { natlab } from '../../test/kits/lab/natlab.ts';
import type { Heard, Target } from '../../test/kits/lab/natlab-packets.ts';
import { labParts } from '../../test/kits/lab/natlab-parts.ts';
import { describePrivileged } from '../../test/kits/lab/privileged.ts';

const NOW = Date.UTC(2026, 0, 5);
const [OPEN, SILENT] = ['open', 'silent'] as const;

const tcp = (address: string, port: number): Target => ({ protocol: 'TCP', address, port });
const icmp = (address: string): Target => ({ protocol: 'ICMP', address, port: 0 });
const permit = (address: string, port: number): FirewallEntry => ({
  cidr: `${address}/32`,
  protocol: 'TCP',
  from: port,
  to: port,
});

const everything = (...addresses: readonly string[]): FirewallEntry[] =>
  addresses.map((address) => ({ cidr: `${address}/32`, protocol: 'ALL' }));

/** `node` polices its `eth0`, on which `peer` is; `inner` is a container or a network behind it. */
async function gateway() {
  const lab = await natlab({ routers: { node: { nat: 'none' } }, hosts: { peer: {}, inner: { behind: 'node' } } });
  const [node, peer, inner] = [lab.host('node'), lab.host('peer'), lab.host('inner')];
  await node.must('nft', ['flush', 'ruleset']);
  await peer.must('ip', ['route', 'add', '192.168.1.0/24', 'via', node.address ?? '']);
  const nodes = { node: labParts(node, 'eth0'), peer: labParts(peer), inner: labParts(inner) };
  await Promise.all(Object.values(nodes).map((one) => one.serve([80, 443])));
  const addresses = { node: node.address ?? '', peer: peer.address ?? '', inner: inner.address ?? '' };
  return { lab, host: node, ...nodes, addresses, [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose]() };
}

/** As a container engine publishes a port, also to the host itself. */
const publish = (inner: string) => `table ip published {
chain pre { type nat hook prerouting priority dstnat; fib daddr type local tcp dport 8080 dnat to ${inner}:80; }
chain out { type nat hook output priority -100; fib daddr type local tcp dport 8080 dnat to ${inner}:80; }
}
`;

/** Rules of a host whose administrator forwards everything; a drop elsewhere counts more. */
const ACCEPT_ALL = `table inet accepting {
chain pre { type filter hook prerouting priority -400; accept; }
chain pass { type filter hook forward priority -400; accept; }
chain post { type nat hook postrouting priority srcnat; oifname "eth0" masquerade; }
}
`;

describePrivileged('the firewall of a node that forwards', () => {
  it('passes nothing on from the overlay or to it, whatever is permitted and the host accepts and translates', async () => {
    await using net = await gateway();
    const { peer, inner } = net.addresses;
    const bothHear = async (heard: Heard) => {
      await expectHeard(net.peer, [tcp(inner, 80), icmp(inner)], [heard, heard]);
      await expectHeard(net.inner, [tcp(peer, 80), icmp(peer)], [heard, heard]);
    };
    await bothHear(OPEN);
    await net.node.apply({ in: everything(peer, inner), out: everything(peer, inner) }, NOW);
    await bothHear(SILENT);
    await net.host.nft(ACCEPT_ALL);
    await bothHear(SILENT);
  });

  it('passes no IPv6 on either', async () => {
    await using net = await gateway();
    const [own, peer, inner] = ['2001:db8:1::100', '2001:db8:1::10', 'fd77::2'];
    await net.host.must('sh', ['-c', 'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding']);
    await net.host.must('ip', ['address', 'add', `${own}/64`, 'dev', 'eth0']);
    await net.host.must('ip', ['address', 'add', 'fd77::1/64', 'dev', 'br0']);
    const [peerHost, innerHost] = [net.lab.host('peer'), net.lab.host('inner')];
    await peerHost.must('ip', ['route', 'add', 'fd77::/64', 'via', own]);
    await innerHost.must('ip', ['address', 'add', `${inner}/64`, 'dev', 'eth0']);
    await innerHost.must('ip', ['route', 'add', 'default', 'via', 'fd77::1']);
    const all = (address: string): FirewallEntry => ({ cidr: `${address}/128`, protocol: 'ALL' });
    const [ofPeer, ofInner] = [
      [tcp(inner, 80), icmp(own)],
      [tcp(peer, 80), icmp(own)],
    ];
    await expectHeard(net.peer, ofPeer, [OPEN, OPEN]);
    await expectHeard(net.inner, ofInner, [OPEN, OPEN]);
    const rules = { in: [all(peer), all(inner)], out: [all(peer), all(inner)] };
    await net.node.apply(rules, NOW, { address: own, cidr: '2001:db8:1::/64' });
    await expectHeard(net.peer, ofPeer, [SILENT, OPEN]);
    await expectHeard(net.inner, ofInner, [SILENT, SILENT]);
  });

  it('judges a published port by the port that the peer asked for', async () => {
    await using net = await gateway();
    const { node, peer, inner } = net.addresses;
    await net.host.nft(publish(inner));
    const targets = [tcp(node, 8080), tcp(inner, 80)];
    await net.node.apply({ in: [permit(peer, 8080)], out: [] }, NOW);
    await expectHeard(net.peer, targets, [OPEN, SILENT]);
    await net.node.apply({ in: [permit(peer, 80)], out: [] }, NOW);
    await expectHeard(net.peer, targets, [SILENT, SILENT]);
  });

  it('cuts a connection to a published port with the rule that permitted it', async () => {
    await using net = await gateway();
    const { node, peer, inner } = net.addresses;
    await net.host.nft(publish(inner));
    await net.node.apply({ in: [permit(peer, 8080)], out: [] }, NOW);
    await net.peer.connect(node, 8080);
    expect(await net.peer.echoes(2_000)).toBe(true);
    await net.node.apply({ in: [], out: [] }, NOW);
    expect(await net.peer.echoes(500)).toBe(false);
  });

  it('judges what leaves under its own address by where it really goes', async () => {
    await using net = await gateway();
    const { peer } = net.addresses;
    await net.host.nft(`table ip translated {
chain out { type nat hook output priority -100; ip daddr 192.0.2.1 tcp dport 1 dnat to ${peer}:80; }
}
`);
    await net.host.must('ip', ['route', 'add', '192.0.2.1', 'via', peer]);
    const targets = [tcp(peer, 80), tcp('192.0.2.1', 1)];
    await net.node.apply({ in: [], out: [permit(peer, 80)] }, NOW);
    await expectHeard(net.node, targets, [OPEN, OPEN]);
    await net.node.apply({ in: [], out: [permit('192.0.2.1', 1)] }, NOW);
    await expectHeard(net.node, targets, [SILENT, SILENT]);
  });

  it('answers to its own address on no other interface, and to itself as before', async () => {
    await using net = await gateway();
    const { node, peer, inner } = net.addresses;
    await net.host.nft(publish(inner));
    const own = [tcp(node, 80), tcp(node, 8080), icmp(node)];
    const behind = [tcp('192.168.1.1', 80), icmp('192.168.1.1')];
    await expectHeard(net.inner, [tcp(node, 80), icmp(node)], [OPEN, OPEN]);
    await net.node.apply({ in: everything(peer, inner), out: [] }, NOW);
    await expectHeard(net.inner, own, [SILENT, SILENT, SILENT]);
    await expectHeard(net.inner, behind, [OPEN, OPEN]);
    await expectHeard(net.node, own, [OPEN, OPEN, OPEN]);
    await expectHeard(net.peer, own, [OPEN, OPEN, OPEN]);
  });
});
