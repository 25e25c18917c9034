import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { launcher } from '../kits/process/run-command.ts';

const LAN = { hosts: { one: {}, two: {} } };
/** After `mesh down` came back; a node that only falls silent is online for 90 s. */
const OFFLINE = { timeout: 2_000 };

describePrivileged('a node that something is wrong with', () => {
  it('asks its own control plane why, tells what each side knows, and is offline there once it is down', async () => {
    await using lab = await natlab(LAN);
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    await one.untilPeer('two', ({ path }) => path === 'direct');
    const { stdout } = await one.mesh(['why', 'one', 'two']);
    expect(stdout).toMatch(/^Policy: unknown without a session: .*\nPath from one to two: direct \(ice-ready\)/);
    expect(stdout).toContain('two has not reported how it reaches one.');

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
    // As a link with a smaller MTU behind a firewall that drops ICMP.
    await two.host.block('meta length > 1300');
    const lossy = await one.mesh(['ping', 'two', '-c', '1', '--json']);
    expect([lossy.code, JSON.parse(lossy.stdout).large]).toEqual([1, { bytes: 1_280, isLost: true }]);
    expect((await one.mesh(['why', 'one', 'two'])).stdout).toContain(
      'Packets of 1280 bytes to two are lost, small ones arrive',
    );
    await two.host.unblock();
    await Promise.all([one.down(), two.down()]);
  });

  it('names the full disk that keeps it from starting, and ends so that a supervisor tries again', async () => {
    await using lab = await natlab({ hosts: { one: {} } });
    await using plane = await startLabPlane(lab);
    const node = new LabNode(lab.host('one'));
    await node.join(await plane.joinToken());
    const script =
      'held=$(cat "$1/node.json"); mount -t tmpfs -o size=16k none "$1"; printf %s "$held" > "$1/node.json"; ' +
      'chmod 600 "$1/node.json"; head -c 64k /dev/zero > "$1/rest"; shift; exec "$@"';
    const up = [launcher('mesh'), 'up', '--config-dir', node.directory, '--interface', node.interfaceName];
    const inside = ['-m', 'sh', '-c', script, 'sh', node.directory, ...up];
    const { code, stderr } = await node.host.run('unshare', inside);
    expect([code, stderr]).toEqual([7, expect.stringContaining(`${node.directory} cannot be written: `)]);
  });
});
