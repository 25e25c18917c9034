import { expect, it } from 'vitest';
import type { PeerStatus } from '../../client/agent/node-status.ts';
import { type LabHost, type LabSpec, natlab } from '../kits/lab/natlab.ts';
import { labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { verifies } from '../verifies.ts';

/** `near` and `far` can meet directly, `hard` and `harder` cannot. */
const SPEC: LabSpec = {
  routers: { home: { nat: 'easy' }, cafe: { nat: 'easy' }, office: { nat: 'hard' }, campus: { nat: 'hard' } },
  hosts: {
    near: { behind: 'home' },
    far: { behind: 'cafe' },
    hard: { behind: 'office' },
    harder: { behind: 'campus' },
  },
};

describePrivileged('a blocked port', () => {
  it('18090/tcp keeps nodes from joining', async () => {
    verifies('ports-api');
    await using lab = await natlab(SPEC);
    await using plane = await startLabPlane(lab);
    await lab.host('plane').block('tcp dport 18090');
    await expect(labNodes(lab, plane, ['near'])).rejects.toThrow(/mesh init .* ended with 7:\n.*plane\.test:18090/);
  });

  it('4222/tcp keeps nodes from negotiating connections until it is open again', async () => {
    verifies('ports-bus');
    await using lab = await natlab(SPEC);
    await using plane = await startLabPlane(lab);
    await lab.host('plane').block('tcp dport 4222');
    const { near, far } = await labNodes(lab, plane, ['far', 'near']);
    const alone = await near.until(({ control, peers }) => peers.length === 1 && control.bus.trouble !== 'connecting');
    expect(alone.control.bus.trouble).toMatch(/plane\.test:4222/);
    expect(alone.peers).toMatchObject([{ transport: 'probing', path: null, reason: { code: 'no-bus' } }]);
    expect(await near.host.ping(alone.peers[0]?.address ?? '', { count: 3 })).toEqual({ sent: 3, received: 0 });
    await lab.host('plane').unblock();
    await near.untilPeer('far', ({ path }) => path === 'direct', 60_000);
    await far.stop();
    await near.stop();
  });

  it('6266/tcp leaves communication to nodes that can connect directly', async () => {
    verifies('ports-relay');
    await using lab = await natlab(SPEC);
    await using plane = await startLabPlane(lab);
    await lab.host('plane').block('tcp dport 6266');
    const { near, hard } = await labNodes(lab, plane, ['near', 'far', 'hard', 'harder']);
    const far = await near.untilPeer('far', ({ path }) => path === 'direct');
    expect(await near.host.ping(far.address, { count: 3 })).toEqual({ sent: 3, received: 3 });
    const harder = await hard.untilPeer('harder', ({ reason }) => reason.code === 'relay-away', 60_000);
    expect(harder).toMatchObject({ transport: 'probing', path: null });
    expect(await hard.host.ping(harder.address, { count: 3 })).toEqual({ sent: 3, received: 0 });
    expect((await hard.status()).relay).toMatchObject({ address: 'lrp://plane.test:6266' });
  });

  it('3478/udp leaves only relay paths to nodes behind NAT', async () => {
    verifies('ports-stun');
    await using lab = await natlab(SPEC);
    await using plane = await startLabPlane(lab);
    await lab.host('plane').block('udp dport 3478');
    const { near } = await labNodes(lab, plane, ['near', 'far']);
    const far = await near.untilPeer(
      'far',
      ({ path, reason }) => path === 'relayed' && reason.code === 'no-stun',
      60_000,
    );
    expect(far.endpoint).toMatch(/^\[fd6c:7270::/);
    expect(await near.host.ping(far.address, { count: 3 })).toEqual({ sent: 3, received: 3 });
  });

  it('51820/udp makes the direct connection fail, and the relay is used', async () => {
    verifies('ports-wireguard', 'limit-wireguard-port', 'device-relay-endpoint');
    await using lab = await natlab(SPEC);
    await using plane = await startLabPlane(lab);
    await lab.host('home').block('udp sport 51820');
    const { near } = await labNodes(lab, plane, ['near', 'far']);
    const far = await near.untilPeer(
      'far',
      ({ path, reason }) => path === 'relayed' && reason.code !== 'checking',
      60_000,
    );
    expect(far).toMatchObject({ transport: 'lrp-ready', endpoint: expect.stringMatching(/^\[fd6c:7270::/) });
    expect(await near.host.ping(far.address, { count: 3 })).toEqual({ sent: 3, received: 3 });
  });

  it("51820/udp closed by one host's own inbound rules keeps both sides on the relay, without a lost packet", async () => {
    verifies('ports-wireguard');
    await using lab = await natlab(SPEC);
    await using plane = await startLabPlane(lab);
    await inboundRules(lab.host('near'), ['udp dport 51820 drop']);
    const { near, far } = await labNodes(lab, plane, ['near', 'far']);
    const changes: string[] = [];
    const byRelay = ({ path }: PeerStatus) => path === 'relayed';
    const seen = await near.untilPeer('far', byRelay);
    await far.untilPeer('near', byRelay);
    let isOver = false;
    const watched = [near, far].map((node) =>
      node.until(({ peers }) => {
        changes.push(...peers.map(({ path }) => `${path}`));
        return isOver;
      }),
    );
    // Longer than a try of the direct path.
    const pinged = await near.host.ping(seen.address, { count: 50 });
    isOver = true;
    await Promise.all(watched);
    expect([pinged, new Set(changes)]).toEqual([{ sent: 50, received: 50 }, new Set(['relayed'])]);
  });

  it("51820/udp opened by name in a host's strict inbound rules is enough for a direct path", async () => {
    await using lab = await natlab(SPEC);
    await using plane = await startLabPlane(lab);
    await inboundRules(lab.host('near'), [
      'iifname "lo" accept',
      'iifname "m*" accept',
      'meta l4proto { icmp, ipv6-icmp } accept',
      'tcp sport { 18090, 4222, 6266 } accept',
      'udp dport 51820 accept',
      'drop',
    ]);
    const { near } = await labNodes(lab, plane, ['near', 'far']);
    const far = await near.untilPeer('far', ({ path }) => path === 'direct');
    expect(await near.host.ping(far.address, { count: 3 })).toEqual({ sent: 3, received: 3 });
  });
});

/** As a person would write them: in a chain at the usual priority. */
async function inboundRules(host: LabHost, rules: readonly string[]): Promise<void> {
  const chain = ['type filter hook input priority 0;', ...rules].join('\n');
  await host.nft(`table inet f {\nchain i {\n${chain}\n}\n}\n`);
}
