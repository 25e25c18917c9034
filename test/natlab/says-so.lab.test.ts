import { cpSync } from 'node:fs';
import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describeLong, describePrivileged } from '../kits/lab/privileged.ts';
import { launcher } from '../kits/process/run-command.ts';

/** Three heartbeats of each, 15 s apart, and more. */
const NOTICED_MS = 200_000;
const LAN = { hosts: { one: {}, two: {} } };
/** After `mesh down` came back; a node that only falls silent is online for 45 s. */
const OFFLINE = { timeout: 2_000 };

describePrivileged('a node that something is wrong with', () => {
  it('names the full disk that keeps it from starting, and ends so that a supervisor tries again', async () => {
    await using lab = await natlab({ hosts: { one: {} } });
    await using plane = await startLabPlane(lab);
    const node = new LabNode(lab.host('one'));
    await node.join(await plane.joinToken());
    const script =
      'held=$(cat "$1/node.json"); mount -t tmpfs -o size=16k,mode=700 none "$1"; printf %s "$held" > "$1/node.json"; ' +
      'chmod 600 "$1/node.json"; head -c 64k /dev/zero > "$1/rest"; shift; exec "$@"';
    const up = [launcher('mesh'), 'up', '--config-dir', node.directory, '--interface', node.interfaceName];
    const inside = ['-m', 'sh', '-c', script, 'sh', node.directory, ...up];
    const { code, stderr } = await node.host.run('unshare', inside);
    expect([code, stderr]).toEqual([7, expect.stringContaining(`${node.directory} cannot be written: `)]);
  });
});

describeLong('a node that something is wrong with', () => {
  it('asks its own control plane why, tells what each side knows, and is offline there once it is down', async () => {
    await using lab = await natlab(LAN);
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    await one.untilPeer('two', ({ path }) => path === 'direct');
    const { stdout } = await one.mesh(['why', 'one', 'two']);
    expect(stdout).toMatch(/^Policy: one may open to two: everything .*\nPath from one to two: direct \(ice-ready\)/);
    expect(stdout).toMatch(
      /How two reaches this node, the control plane knows. Sign in to the control plane: \S*mesh login --server /,
    );

    const isOnline = async () => (await plane.api('GET', '/api/v1/peers/one')).status.online;
    await expect.poll(isOnline).toBe(true);
    await one.down();
    await expect.poll(isOnline, OFFLINE).toBe(false);
    await two.down();
  });

  it('pings as often as it is told, and finds a path that loses large packets', async () => {
    await using lab = await natlab(LAN);
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    await one.untilPeer('two', ({ path }) => path === 'direct');
    expect(await one.host.reaches('10.96.0.2')).toBe(true);
    const good = await one.mesh(['ping', 'two', '-c', '2']);
    expect([good.code, good.stdout.match(/ ms direct via /g)?.length]).toEqual([0, 2]);
    // As a link with a smaller MTU behind a firewall that drops ICMP, and no relay to go round it.
    await two.host.block('tcp dport 6266');
    await two.until(({ relay }) => relay.state !== 'ready');
    await two.host.block('meta l4proto udp meta length > 1300');
    await one.host.ping('10.96.0.2', { count: 20, intervalMs: 200 });
    await one.untilPeer('two', ({ reason }) => reason.detail.includes('Large packets are lost on this path'));
    const lossy = await one.mesh(['ping', 'two', '-c', '1', '--json']);
    expect([lossy.code, JSON.parse(lossy.stdout).large]).toEqual([1, { bytes: 1_280, isLost: true }]);
    expect((await one.mesh(['why', 'one', 'two'])).stdout).toContain(
      'Packets of 1280 bytes to two are lost, small ones arrive',
    );
    await two.host.unblock();
    await Promise.all([one.down(), two.down()]);
  });

  it(
    'is told on each of two machines that they use one key',
    async () => {
      await using lab = await natlab(LAN);
      await using plane = await startLabPlane(lab);
      const [one, two] = [new LabNode(lab.host('one')), new LabNode(lab.host('two'))];
      await one.join(await plane.joinToken());
      cpSync(one.directory, two.directory, { recursive: true });
      await Promise.all([one.up(), two.up()]);
      const isNamed = ({ trouble }: { trouble: string }) => trouble.startsWith('another machine uses the key');
      await Promise.all([one.until(isNamed, NOTICED_MS), two.until(isNamed, NOTICED_MS)]);
      expect((await one.mesh(['status'])).stdout).toMatch(
        /On one of them, with a new join token in a file: \S*mesh init .*--force/,
      );
      await Promise.all([one.down(), two.down()]);
    },
    NOTICED_MS + 60_000,
  );
});
