import { expect, it } from 'vitest';
import type { PathStatus } from '../../client/paths/status.ts';
import type { LabSpec, RouterSpec } from '../kits/lab/natlab.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { connectedLab, type PathsNode } from './paths-lab.ts';

/** Between two packets of the pings that count what is lost. */
const PING_MS = 5;

describePrivileged('paths between real tunnels', () => {
  it.each<[string, LabSpec, PathStatus['path']]>([
    [
      'neighbours',
      { routers: { home: { nat: 'easy' } }, hosts: { a: { behind: 'home' }, b: { behind: 'home' } } },
      'direct',
    ],
    ['nodes behind two easy NATs', behindTwo('easy'), 'direct'],
    ['nodes behind two hard NATs', behindTwo('hard'), 'relayed'],
    ['firewalled hosts with IPv6 alone', { hosts: { a: v6Laptop(), b: v6Laptop() } }, 'direct'],
  ])('%s talk', async (_title, spec, expected) => {
    await using lab = await connectedLab(spec);
    const [a, b] = [lab.node('a'), lab.node('b')];
    const isSettled = ({ path, reason }: PathStatus) =>
      path === expected && (path === 'direct' || reason.code === 'checks-failed');
    const statuses = await Promise.all([a.untilStatus('b', isSettled), b.untilStatus('a', isSettled)]);
    const isRelayAddress = statuses.map(({ endpoint }) => endpoint?.address.startsWith('fd6c:7270::'));
    expect(isRelayAddress).toEqual([expected === 'relayed', expected === 'relayed']);
    expect(await a.host.ping(b.address, { count: 3 })).toEqual({ sent: 3, received: 3 });
  });

  it('whoever flushes all packet rules of a host costs it its direct paths only for a moment', async () => {
    await using lab = await connectedLab(behindTwo('easy'));
    const [a, b] = [lab.node('a'), lab.node('b')];
    const isDirect = ({ path }: PathStatus) => path === 'direct';
    await Promise.all([a.untilStatus('b', isDirect), b.untilStatus('a', isDirect)]);
    const pings = startPings(a, b.address);
    await pings.reached(100);
    const left = a.untilStatus('b', ({ path }) => path === 'relayed');
    await a.host.must('nft', ['flush', 'ruleset']);
    await left;
    await Promise.all([a.untilStatus('b', isDirect), b.untilStatus('a', isDirect)]);
    await pings.reached(pings.newest + 50);
    expect((await pings.stop()).length).toBeLessThan(1_000 / PING_MS);
  });

  it('an end leaves nothing behind', async () => {
    const spec = behindTwo('easy');
    await using lab = await connectedLab(spec);
    const a = lab.node('a');
    const traces = async () => {
      const outputs = [
        await a.host.must('nft', ['list', 'tables']),
        await a.host.must('ip', ['-6', 'address', 'show', 'dev', 'lo']),
        await a.host.must('ip', ['route', 'show', 'table', 'local']),
      ];
      return outputs.flatMap((output) => output.match(/mesh_\w+|fd6c:\S+|127\.77\S+/g) ?? []);
    };
    const endpoint = expect.stringMatching(/^(fd6c:7270::ca6c:1\/128|127\.77\.0\.0\/16)$/);
    expect(await traces()).toEqual(['mesh_relay_51820', expect.stringMatching(/^mesh_ice_/), endpoint]);
    await a.parts.close();
    expect(await traces()).toEqual([]);
  });

  it('a cut direct path under traffic costs less than a second, and the return to it costs nothing', async () => {
    await using lab = await connectedLab(behindTwo('easy'));
    const [a, b] = [lab.node('a'), lab.node('b')];
    const bothAre = (path: PathStatus['path']) =>
      Promise.all([
        a.untilStatus('b', (status) => status.path === path),
        b.untilStatus('a', (status) => status.path === path),
      ]);
    await bothAre('direct');
    const pings = startPings(a, b.address);
    await pings.reached(400);
    await lab.lab.host('one').block('udp dport 51820');
    await bothAre('relayed');
    await pings.reached(pings.newest + 200);
    await lab.lab.host('one').unblock();
    await bothAre('direct');
    await pings.reached(pings.newest + 200);
    const lost = await pings.stop();
    const gap = Array.from({ length: lost.length }, (_, n) => (lost[0] ?? 0) + n);
    expect(lost).toEqual(gap);
    expect(lost.length).toBeLessThan(1_000 / PING_MS);
  });
});

function behindTwo(nat: RouterSpec['nat']): LabSpec {
  return { routers: { one: { nat }, two: { nat } }, hosts: { a: { behind: 'one' }, b: { behind: 'two' } } };
}

function v6Laptop() {
  return { firewall: true, family: 'ipv6' } as const;
}

/** Pings without end, and knows which stayed unanswered. */
function startPings(from: PathsNode, address: string) {
  const child = from.host.spawn('ping', ['-n', '-i', String(PING_MS / 1_000), '-W2', address]);
  const answered = new Set<number>();
  let newest = 0;
  let wake = () => {};
  child.stdout?.on('data', (data: Buffer) => {
    for (const [, n] of data.toString().matchAll(/icmp_seq=(\d+) ttl/g)) {
      answered.add(Number(n));
      newest = Math.max(newest, Number(n));
    }
    wake();
  });
  return {
    get newest() {
      return newest;
    },
    async reached(n: number): Promise<void> {
      while (newest < n) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async stop(): Promise<readonly number[]> {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      const last = newest;
      child.kill('SIGINT');
      await ended;
      return Array.from({ length: last }, (_, n) => n + 1).filter((n) => !answered.has(n));
    },
  };
}
