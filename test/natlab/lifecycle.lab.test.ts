import { expect, it } from 'vitest';
import type { PeerStatus } from '../../client/agent/node-status.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged, isLong } from '../kits/lab/privileged.ts';
import { verifies } from '../verifies.ts';

/** Pings while the control plane is away: 2 s, or the 10 minutes that a tunnel has to last. */
const OUTAGE = isLong ? { count: 600, intervalMs: 1_000 } : { count: 20, intervalMs: 100 };
const HOSTS = { hosts: { one: {}, two: {} } };
/** Until a peer that came up without control plane and bus answers. */
const ALONE_SECONDS = 5;
/** The new tunnels have a session: what is sent now goes into no earlier one. */
const isConnected = ({ path, state }: PeerStatus) => path === 'direct' && state === 'connected';
/** After a revocation, an expiry or a deletion no tunnel may last longer. */
const CUT_MS = 2_000;

describePrivileged('the life of a node', () => {
  it('waits while it is pending and connects on approval without a restart', async () => {
    verifies('cli-up', 'cli-init', 'approval-mode', 'state-pending-approved');
    await using lab = await natlab(HOSTS);
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one']);
    await one.until(({ node }) => node.address !== null);
    await plane.api('PATCH', `/api/v1/workspaces/${plane.workspace}`, {
      settings: { requirePeerApproval: true },
    });
    const { two } = await labNodes(lab, plane, ['two']);
    const waiting = await two.until(({ control }) => control.standing === 'pending');
    expect([waiting.node.address, waiting.peers, (await one.status()).peers]).toEqual([null, [], []]);

    await plane.api('POST', `/api/v1/peers/${waiting.node.id}/approve`, {});
    const { address } = await two.untilPeer('one', ({ path }) => path !== null, 15_000);
    expect(await two.host.ping(address, { waitSeconds: 5 })).toEqual({ sent: 1, received: 1 });
    expect(await one.stop()).toBe(0);
    expect(await two.stop()).toBe(0);
  });

  it('loses its tunnels within two seconds of its revocation, at both ends', async () => {
    await using lab = await natlab(HOSTS);
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two']);
    const { address } = await one.untilPeer('two', ({ path }) => path === 'direct');
    expect(await one.host.ping(address)).toEqual({ sent: 1, received: 1 });
    const { node } = await two.status();
    await plane.api('POST', `/api/v1/peers/${node.id}/revoke`, {});
    const began = performance.now();
    await Promise.all([
      one.until(({ peers }) => peers.length === 0),
      two.until(({ control, peers }) => control.standing === 'revoked' && peers.length === 0),
    ]);
    expect(performance.now() - began).toBeLessThan(CUT_MS);
    const device = await one.host.must('wg', ['show', one.interfaceName, 'peers']);
    expect(device.trim()).toBe('');
    // Its status says so before the last of its overlay is taken away.
    await expect.poll(() => two.host.hasInterface(two.interfaceName)).toBe(false);
  });

  it('goes on when whoever read its output is gone', async () => {
    await using lab = await natlab(HOSTS);
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two']);
    await one.untilPeer('two', ({ path }) => path === 'direct');
    one.closeOutput();
    expect(await two.stop()).toBe(0);
    await one.untilPeer('two', ({ path }) => path === null);
    two.start();
    const { address } = await one.untilPeer('two', isConnected);
    expect(await one.host.ping(address, { waitSeconds: 5 })).toEqual({ sent: 1, received: 1 });
    expect(await one.stop()).toBe(0);
  });

  it('gets another key while it runs, and stays reachable', async () => {
    await using lab = await natlab(HOSTS);
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two']);
    const { address, handshake } = await one.untilPeer('two', isConnected);
    const { publicKey } = (await two.status()).node;
    await two.must(['rotate-key']);
    await two.until(({ node }) => node.publicKey !== publicKey);
    await one.untilPeer('two', (peer) => isConnected(peer) && peer.handshake !== handshake);
    expect(await one.host.ping(address, { waitSeconds: 10 })).toEqual({ sent: 1, received: 1 });
  });

  it(
    'keeps its tunnels while the control plane is away, and comes up from its disk without it',
    async () => {
      await using lab = await natlab(HOSTS);
      await using plane = await startLabPlane(lab);
      const { one, two } = await labNodes(lab, plane, ['one', 'two']);
      const { address } = await one.untilPeer('two', ({ path }) => path === 'direct');
      await plane.stop();
      await one.until(({ control }) => !control.bus.isUp);
      expect(await one.host.ping(address, OUTAGE)).toEqual({ sent: OUTAGE.count, received: OUTAGE.count });

      await two.stop();
      two.start();
      const alone = await two.until(({ node, peers }) => node.address !== null && peers.length === 1);
      expect([alone.node.address, alone.control.bus.isUp]).toEqual([address, false]);

      expect(await one.host.reaches(address, ALONE_SECONDS)).toBe(true);

      await plane.start();
      await two.until(({ control }) => control.bus.isUp, 60_000);
      await one.untilPeer('two', isConnected);
      expect(await one.host.ping(address)).toEqual({ sent: 1, received: 1 });
    },
    isLong ? 900_000 : undefined,
  );
});
