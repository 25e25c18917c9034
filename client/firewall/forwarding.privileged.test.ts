import { expect, it } from 'vitest';
import type { FirewallEntry } from '../../core/network/graph.ts';
import { natlab } from '../../test/natlab.ts';
import type { Target } from '../../test/natlab-packets.ts';
import { labParts } from '../../test/natlab-parts.ts';
import { describePrivileged } from '../../test/privileged.ts';

const NOW = Date.UTC(2026, 0, 5);
const TIMEOUT_MS = 700;
const [OPEN, SILENT] = ['open', 'silent'] as const;

const tcp = (address: string, port: number): Target => ({ protocol: 'TCP', address, port });
const permit = (address: string, port: number): FirewallEntry => ({
  cidr: `${address}/32`,
  protocol: 'TCP',
  from: port,
  to: port,
});

/** `node` polices its `eth0`, on which `peer` is; `inner` is a container or a network behind it. */
async function gateway() {
  const lab = await natlab({ routers: { node: { nat: 'none' } }, hosts: { peer: {}, inner: { behind: 'node' } } });
  const [node, peer, inner] = [lab.host('node'), lab.host('peer'), lab.host('inner')];
  await node.must('nft', ['flush', 'ruleset']);
  await peer.must('ip', ['route', 'add', '192.168.1.0/24', 'via', node.address ?? '']);
  const nodes = { node: labParts(node, 'eth0'), peer: labParts(peer), inner: labParts(inner) };
  await Promise.all([nodes.peer.serve([80, 443]), nodes.inner.serve([80, 443])]);
  const addresses = { node: node.address ?? '', peer: peer.address ?? '', inner: inner.address ?? '' };
  return { lab, host: node, ...nodes, addresses, [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose]() };
}

describePrivileged('the firewall of a node that forwards', () => {
  it('holds what passes through to the same rules, in both ways', async () => {
    await using net = await gateway();
    const { peer, inner } = net.addresses;
    const fromPeer = () => net.peer.probe([tcp(inner, 80), tcp(inner, 443)], TIMEOUT_MS);
    const toPeer = () => net.inner.probe([tcp(peer, 80), tcp(peer, 443)], TIMEOUT_MS);
    expect([await fromPeer(), await toPeer()]).toEqual([
      [OPEN, OPEN],
      [OPEN, OPEN],
    ]);
    await net.node.apply({ in: [permit(peer, 80)], out: [permit(peer, 443)] }, NOW);
    expect([await fromPeer(), await toPeer()]).toEqual([
      [OPEN, SILENT],
      [SILENT, OPEN],
    ]);
  });

  it('judges a published port by the port that the peer asked for', async () => {
    await using net = await gateway();
    const { node, peer, inner } = net.addresses;
    const publish = `table ip published {
chain pre { type nat hook prerouting priority dstnat; iifname "eth0" tcp dport 8080 dnat to ${inner}:80; }
}
`;
    await net.host.nft(publish);
    await net.node.apply({ in: [permit(peer, 8080)], out: [] }, NOW);
    expect(await net.peer.probe([tcp(node, 8080)], TIMEOUT_MS)).toEqual([OPEN]);
    await net.node.apply({ in: [permit(peer, 80)], out: [] }, NOW);
    expect(await net.peer.probe([tcp(node, 8080)], TIMEOUT_MS)).toEqual([SILENT]);
  });

  it('judges what leaves under its own address by where it really goes', async () => {
    await using net = await gateway();
    const { peer } = net.addresses;
    const translate = `table ip translated {
chain pre { type nat hook prerouting priority dstnat; iifname "br0" ip daddr 192.0.2.1 tcp dport 1 dnat to ${peer}:80; }
chain post { type nat hook postrouting priority srcnat; oifname "eth0" masquerade; }
}
`;
    await net.host.nft(translate);
    const probe = () => net.inner.probe([tcp(peer, 80), tcp('192.0.2.1', 1)], TIMEOUT_MS);
    await net.node.apply({ in: [], out: [permit(peer, 80)] }, NOW);
    expect(await probe()).toEqual([OPEN, OPEN]);
    await net.node.apply({ in: [], out: [permit('192.0.2.1', 1)] }, NOW);
    expect(await probe()).toEqual([SILENT, SILENT]);
  });
});
