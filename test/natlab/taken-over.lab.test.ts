import { existsSync, readdirSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RUN_DIRECTORY } from '../../client/run-directory.ts';
import { linuxProcesses } from '../../client/tunnel/process-table.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describeLong, describePrivileged } from '../kits/lab/privileged.ts';

const OTHER = { one: '10.96.0.2', two: '10.96.0.1' } as const;
const GAP_MS = 5;
/** Of the stream of pings around a takeover. */
const COUNT = 1_200;
/** Between the end of an agent and the start of the next: a supervisor that is slow, and consent that is lost meanwhile. */
const AWAY_MS = 2_000;
/** As good as none: a peer that misses its checks of consent asks the relay first, for as long as that takes. */
const LOST = 10;
/** A takeover of relayed peers: the start of an agent and its session with the relay. */
const RELAYED_OUTAGE_MS = 2_500;
const LAN = { hosts: { one: {}, two: {} } };

/** Sends echoes until they are all sent. @returns how long no answer came, at most, and how many never did */
async function stream(node: LabNode, address: string, count = COUNT) {
  const args = ['-n', '-D', '-i', `${GAP_MS / 1_000}`, '-c', `${count}`, '-W', '1', address];
  const { stdout } = await node.host.run('ping', args, { timeoutMs: 60_000 });
  const times = [...stdout.matchAll(/^\[([\d.]+)\] \d+ bytes from /gm)].map(([, at]) => Number(at) * 1_000);
  const silence = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  return { lost: count - times.length, silenceMs: Math.round(silence) };
}

async function kill(node: LabNode): Promise<number> {
  const { pid } = (await node.status()).node;
  process.kill(pid, 'SIGKILL');
  return pid;
}

const handshakes = ({ host, interfaceName }: LabNode) => host.must('wg', ['show', interfaceName, 'latest-handshakes']);

/** Everything of a node that could be left on its host. */
async function leftOf({ host, interfaceName, directory }: LabNode) {
  const rules = await host.must('nft', ['list', 'tables']);
  const addresses = await host.must('ip', ['-6', 'address', 'show', 'dev', 'lo']);
  const files = readdirSync(RUN_DIRECTORY).filter((name) => name.startsWith(`wireguard-${interfaceName}`));
  const kept = [
    `${RUN_DIRECTORY}/${interfaceName}/node.json`,
    `${RUN_DIRECTORY}/${interfaceName}/guard`,
    `${directory}/agent.sock`,
  ].filter(existsSync);
  return {
    hasInterface: await host.hasInterface(interfaceName),
    tables: rules.match(/mesh_\w+/g) ?? [],
    addresses: addresses.match(/fd6c:7270\S+/g) ?? [],
    files: [...files, ...kept, ...[`/var/run/wireguard/${interfaceName}.sock`].filter(existsSync)],
    processes: (await host.run('pgrep', ['-f', `wireguard-go -f ${interfaceName}`])).stdout.trim(),
  };
}

/** Clears /run, as a recreated container or a person does. */
function clearRun({ interfaceName }: LabNode, keepsSocket: boolean): void {
  const own = readdirSync(RUN_DIRECTORY).filter(
    (name) => name === interfaceName || name.startsWith(`wireguard-${interfaceName}`),
  );
  for (const name of own) rmSync(`${RUN_DIRECTORY}/${name}`, { recursive: true });
  if (!keepsSocket) rmSync(`/var/run/wireguard/${interfaceName}.sock`, { force: true });
}

const NOTHING = { hasInterface: false, tables: [], addresses: [], files: [], processes: '' };

describePrivileged('a node whose agent was killed', () => {
  it('leaves nothing once mesh down was called, nor does one that hangs', async () => {
    await using lab = await natlab(LAN);
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    await one.untilPeer('two', ({ path }) => path === 'direct');
    await kill(one);
    expect((await leftOf(one)).hasInterface).toBe(true);
    expect(await one.down()).toBe(
      `one was not up; what its agent left is taken away: ${one.interfaceName}, firewall and processes.\n`,
    );
    expect(await leftOf(one)).toEqual(NOTHING);
    expect(await one.down()).toBe('one was not up; there was nothing to take away.\n');

    const { pid } = (await two.status()).node;
    process.kill(pid, 'SIGSTOP');
    expect(await two.down()).toContain('two is down; what its agent left is taken away');
    expect([await leftOf(two), await linuxProcesses(pid)]).toEqual([NOTHING, undefined]);
  });

  it.each(['with', 'without'])(
    'is found %s the socket of its tunnel where /run was cleared: by mesh up and by mesh down',
    async (how) => {
      await using lab = await natlab(LAN);
      await using plane = await startLabPlane(lab);
      const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
      const isDirect = () => one.untilPeer('two', ({ path }) => path === 'direct');
      await isDirect();
      await kill(one);
      clearRun(one, how === 'with');
      await one.up();
      await isDirect();
      expect(await one.host.reaches(OTHER.one)).toBe(true);

      await kill(one);
      clearRun(one, how === 'with');
      expect(await one.down()).toBe(
        `one was not up; what its agent left is taken away: ${one.interfaceName}, firewall and processes.\n`,
      );
      expect(await leftOf(one)).toEqual(NOTHING);
      expect(await one.down()).toBe('one was not up; there was nothing to take away.\n');
      await two.down();
    },
  );

  it('refuses an interface that nothing shows to be its own, and says how to remove it', async () => {
    await using lab = await natlab(LAN);
    await using plane = await startLabPlane(lab);
    const { one } = await labNodes(lab, plane, ['one'], (node) => node.up());
    await kill(one);
    const { host, interfaceName } = one;
    await host.must('pkill', ['-f', `wireguard-go -f ${interfaceName}`]);
    await expect.poll(() => host.hasInterface(interfaceName)).toBe(false);
    clearRun(one, false);
    await host.must('ip', ['tuntap', 'add', 'dev', interfaceName, 'mode', 'tun']);
    const refusal = `nothing shows that it is of this node. Choose another name with --interface, or, if nothing needs it, remove it: ip link delete dev ${interfaceName}`;
    const down = await one.mesh(['down']);
    expect([down.code, down.stderr]).toEqual([5, expect.stringContaining(refusal)]);
    const up = await one.mesh(['up', '--daemon', '--interface', interfaceName]);
    expect([up.code, up.stderr]).toEqual([expect.any(Number), expect.stringContaining(refusal)]);
    expect(await host.hasInterface(interfaceName)).toBe(true);
  });
});

describeLong('a node whose agent was killed', () => {
  it.each([0, AWAY_MS])('hands its direct tunnel to the next agent, %i ms later, with its sessions', async (awayMs) => {
    await using lab = await natlab(LAN);
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    await one.untilPeer('two', ({ path }) => path === 'direct');
    await two.untilPeer('one', ({ path }) => path === 'direct');
    await Promise.all([stream(one, OTHER.one, 100), stream(two, OTHER.two, 100)]);
    const before = await handshakes(one);
    const streams = [stream(one, OTHER.one), stream(two, OTHER.two)];
    await kill(one);
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    await one.up();
    const seen = await Promise.all(streams);
    console.log(`direct, ${awayMs} ms away`, JSON.stringify(seen));
    expect(one.log).toContain('is taken over from an earlier agent, with its sessions');
    for (const { lost } of seen) expect(lost).toBeLessThan(LOST);
    expect(await handshakes(one)).toBe(before);
    await one.untilPeer('two', ({ path }) => path === 'direct');
    await Promise.all([one.down(), two.down()]);
  });

  it('hands its relayed tunnel to the next agent without another handshake', async () => {
    await using lab = await natlab(LAN);
    for (const name of ['one', 'two']) await lab.host(name).block('udp dport 51820');
    await using plane = await startLabPlane(lab);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    await one.untilPeer('two', ({ path }) => path === 'relayed');
    expect(await one.host.reaches(OTHER.one)).toBe(true);
    await Promise.all([stream(one, OTHER.one, 100), stream(two, OTHER.two, 100)]);
    const before = await handshakes(one);
    const streams = [stream(one, OTHER.one), stream(two, OTHER.two)];
    await kill(one);
    await one.up();
    const seen = await Promise.all(streams);
    console.log('relayed', JSON.stringify(seen));
    for (const { silenceMs } of seen) expect(silenceMs).toBeLessThan(RELAYED_OUTAGE_MS);
    expect(await handshakes(one)).toBe(before);
    await Promise.all([one.down(), two.down()]);
  });
});
