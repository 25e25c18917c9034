import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

/** 20 s of silence, what is left of the look before, and a slow machine. */
const MOST_MS = 35_000;

describePrivileged('a peer whose host is gone without a word', () => {
  it.each(['direct', 'relayed'] as const)(
    'on a %s path is silent, and unreachable within half a minute',
    async (path) => {
      await using lab = await natlab({ hosts: { one: {}, two: {} } });
      await using plane = await startLabPlane(lab);
      if (path === 'relayed') await lab.host('two').block('udp dport 51820');
      const { one, two } = (await labNodes(lab, plane, ['one', 'two'])) as Record<'one' | 'two', LabNode>;
      const { address } = await one.untilPeer('two', (peer) => peer.path === path);
      await two.untilPeer('one', (peer) => peer.path === path);
      expect((await one.host.ping(address, { count: 5 })).received).toBeGreaterThan(0);
      expect((await one.untilPeer('two', ({ state }) => state === 'connected')).silentMs).toBeNull();

      await lab
        .host('two')
        .unblock()
        .catch(() => undefined);
      await lab.host('two').block('meta l4proto { tcp, udp }');
      const begun = performance.now();
      const pings = one.host.ping(address, { count: 40, intervalMs: 1_000 });
      const silent = await one.untilPeer('two', ({ silentMs }) => silentMs !== null && silentMs > 11_000);
      expect(silent.state).not.toBe('unreachable');
      const gone = await one.untilPeer('two', ({ state }) => state === 'unreachable');
      expect([gone.path !== null, performance.now() - begun < MOST_MS]).toEqual([true, true]);
      await pings;
    },
  );
});
