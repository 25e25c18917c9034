import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';

const OWN = '10.96.0.1';
const OTHER = '10.96.0.2';

async function kill(node: LabNode): Promise<void> {
  process.kill((await node.status()).node.pid, 'SIGKILL');
}

/** What is left of the minute, in seconds; undefined once it is over. */
async function secondsLeft({ host, interfaceName }: LabNode): Promise<number | undefined> {
  const shown = await host.must('nft', ['list', 'set', 'inet', `mesh_${interfaceName}`, 'own_address']);
  const [, minutes, seconds] = /timeout 1m expires (1m)?(?:(\d+)s)?/.exec(shown) ?? [];
  return minutes || seconds ? (minutes ? 60 : 0) + Number(seconds ?? 0) : undefined;
}

/** As time does: takes what is left down to nothing. */
async function spend({ host, interfaceName }: LabNode): Promise<void> {
  const element = (time: string) => `element inet mesh_${interfaceName} own_address { ${OWN}${time} }\n`;
  await host.nft(`delete ${element('')}add ${element(' timeout 1ms')}`);
}

/** As kube-proxy has them. */
const SERVICES = `table ip kube-proxy {
  chain services { ip daddr 10.96.0.10 meta l4proto { tcp, udp } dnat to 192.168.100.5; }
  chain nat-prerouting { type nat hook prerouting priority dstnat; policy accept; jump services; }
}`;

/** All that a node could have left of itself. */
async function left({ host, interfaceName }: LabNode): Promise<readonly string[]> {
  const [links, routes, tables] = await Promise.all([
    host.must('ip', ['-o', 'link']),
    host.must('ip', ['route']),
    host.must('nft', ['list', 'tables']),
  ]);
  return [
    ...[...links.split('\n'), ...routes.split('\n')].filter((line) => line.includes(interfaceName)),
    ...tables.split('\n').filter((line) => line !== '' && line !== 'table ip kube-proxy'),
  ];
}

describePrivileged('a node whose agent was killed', () => {
  it('loses what that agent left where the next one refuses the block, and mesh down and leave end it clean', async () => {
    await using lab = await natlab({ hosts: { one: {} } });
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one'], (node) => node.up());
    await kill(one);
    expect((await left(one)).length).toBeGreaterThan(2);
    expect((await one.mesh(['netcheck'])).code).toBe(1);
    await one.host.nft(SERVICES);
    const { code, stdout } = await one.mesh(['up', '--daemon', '--interface', one.interfaceName]);
    expect([code, stdout]).toEqual([5, expect.stringContaining('is not routed')]);
    expect(await left(one)).toEqual([]);
    expect((await one.mesh(['netcheck'])).code).toBe(1);
    expect(await one.down()).toContain('is down');

    await one.host.must('nft', ['delete', 'table', 'ip', 'kube-proxy']);
    await one.up();
    await kill(one);
    await one.host.nft(SERVICES);
    await one.must(['leave']);
    expect(await left(one)).toEqual([]);
  });

  it('closes its tunnel a minute later in both directions, says so, and is open again with the next agent', async () => {
    await using lab = await natlab({ hosts: { one: {}, two: {} } });
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    await one.untilPeer('two', ({ path }) => path === 'direct');
    await two.untilPeer('one', ({ path }) => path === 'direct');
    expect(await two.host.reaches(OWN)).toBe(true);
    await kill(one);
    // Renewed each quarter of a minute.
    const left = await secondsLeft(one);
    expect(left).toBeGreaterThan(35);
    expect(left).toBeLessThanOrEqual(60);
    expect((await one.mesh(['status'])).stderr).toMatch(
      /Its agent was killed and left \S+, which closes within a minute of that\./,
    );
    expect(await two.host.reaches(OWN)).toBe(true);

    await spend(one);
    expect(await secondsLeft(one)).toBeUndefined();
    // Longer than the other end tries another path at a time.
    const pings = { count: 20, intervalMs: 100 };
    expect([await two.host.ping(OWN, pings), await one.host.ping(OTHER, pings)]).toEqual([
      { sent: 20, received: 0 },
      { sent: 20, received: 0 },
    ]);
    const { code, stderr } = await one.mesh(['status']);
    expect([code, stderr]).toEqual([
      7,
      expect.stringMatching(/killed and left \S+, which is closed by now: .* Start it/),
    ]);

    await one.up();
    expect(await one.host.reaches(OTHER)).toBe(true);
    await Promise.all([one.down(), two.down()]);
  });

  it('lets nothing in once its rules are flushed, until the next agent, and mesh down takes that guard away', async () => {
    await using lab = await natlab({ hosts: { one: {}, two: {} } });
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    await one.untilPeer('two', ({ path }) => path === 'direct');
    await two.untilPeer('one', ({ path }) => path === 'direct');
    const guard = () => one.host.must('nft', ['list', 'tables']);
    const guardOnly = `table inet mesh_guard_${one.interfaceName}\n`;
    await kill(one);
    expect(await two.host.reaches(OWN)).toBe(true);
    await one.host.must('nft', ['flush', 'ruleset']);
    expect([await guard(), await two.host.ping(OWN, { count: 20, intervalMs: 100 })]).toEqual([
      guardOnly,
      { sent: 20, received: 0 },
    ]);

    await one.up();
    expect(one.log).toContain('is taken over from an earlier agent');
    expect(await two.host.reaches(OWN)).toBe(true);
    await one.host.must('nft', ['flush', 'ruleset']);
    expect(await two.host.reaches(OWN)).toBe(true);

    await kill(one);
    await one.host.must('nft', ['flush', 'ruleset']);
    await one.down();
    expect(await guard()).toBe('');
    await two.down();
  });
});
