import { expect, it } from 'vitest';
import type { FirewallEntry, FirewallRules } from '../../core/model/graph.ts';
import { expectHeard } from '../../test/kits/lab/heard.ts';
import { natlab } from '../../test/kits/lab/natlab.ts';
import type { Heard, Target } from '../../test/kits/lab/natlab-packets.ts';
import { labParts } from '../../test/kits/lab/natlab-parts.ts';
import { describePrivileged } from '../../test/kits/lab/privileged.ts';

const NOW = Date.UTC(2026, 0, 5);
const PORTS = [80, 443, 8080];
const A = '198.51.100.10';
const B = '198.51.100.11';
const C = '198.51.100.12';
const NOTHING = { in: [], out: [] };

/** An interface is an interface: the rules are tried on the plain link between hosts, where no tunnel adds its own. */
async function three() {
  const lab = await natlab({ hosts: { a: {}, b: {}, c: {} } });
  const hosts = { a: lab.host('a'), b: lab.host('b'), c: lab.host('c') };
  const nodes = { a: labParts(hosts.a, 'eth0'), b: labParts(hosts.b, 'eth0'), c: labParts(hosts.c, 'eth0') };
  await Promise.all(Object.values(nodes).map((node) => node.serve(PORTS)));
  return { lab, hosts, nodes, [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose]() };
}

const tcp = (address: string, port: number): Target => ({ protocol: 'TCP', address, port });
const udp = (address: string, port: number): Target => ({ protocol: 'UDP', address, port });
const icmp = (address: string): Target => ({ protocol: 'ICMP', address, port: 0 });
const TIMEOUT_MS = 700;
const LEASE_MS = 2_000;
/** Lease that outlasts the trials of a busy machine. */
const LOOKED_AT_MS = 5_000;

const permit = (address: string, protocol: FirewallEntry['protocol'], from?: number, to = from): FirewallEntry => ({
  cidr: `${address}/32`,
  protocol,
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

describePrivileged('the firewall in nftables', () => {
  it('drops what comes in and what goes out unless an entry permits it', async () => {
    await using lab = await three();
    const { a, b, c } = lab.nodes;
    const all = [tcp(B, 80), udp(B, 80), icmp(B)];
    await b.apply(NOTHING, NOW);
    await expectHeard(a, all, ['silent', 'silent', 'silent']);
    await expectHeard(b, [tcp(A, 80), udp(A, 80), icmp(A)], ['silent', 'silent', 'silent']);
    await b.apply({ in: [permit(A, 'ALL')], out: [] }, NOW);
    await expectHeard(a, all, ['open', 'open', 'open']);
    await expectHeard(c, all, ['silent', 'silent', 'silent']);
    await expectHeard(b, [tcp(A, 80), udp(A, 80), icmp(A)], ['silent', 'silent', 'silent']);
    await b.apply({ in: [], out: [permit(A, 'ALL')] }, NOW);
    await expectHeard(b, [tcp(A, 80), udp(A, 80), icmp(A)], ['open', 'open', 'open']);
    await expectHeard(a, all, ['silent', 'silent', 'silent']);
  });

  it('tells protocols and ports apart, and lets refusals through', async () => {
    await using lab = await three();
    const { a, b } = lab.nodes;
    const targets = [tcp(B, 80), tcp(B, 443), tcp(B, 81), udp(B, 8080), udp(B, 8081), udp(B, 80), icmp(B)];
    const hears = async (entries: readonly FirewallEntry[], ...expected: Heard[]) => {
      await b.apply({ in: entries, out: [] }, NOW);
      await expectHeard(a, targets, expected);
    };
    const [open, refused, silent] = ['open', 'refused', 'silent'] as const;
    await hears([permit(A, 'TCP', 80)], open, silent, silent, silent, silent, silent, silent);
    const ranges = [permit(A, 'TCP', 80, 443), permit(A, 'UDP', 8080, 9000)];
    await hears(ranges, open, open, refused, open, refused, silent, silent);
    await hears([permit(A, 'ICMP')], silent, silent, silent, silent, silent, silent, open);
  });

  it('permits no more and no less where there are more kinds of permissions than have a chain of their own', async () => {
    await using lab = await three();
    const others = Array.from({ length: 1_500 }, (_, index) =>
      permit(`10.0.${index >> 8}.${index & 255}`, 'TCP', index + 1),
    );
    const targets = [tcp(B, 80), tcp(B, 443), udp(B, 80), icmp(B)];
    const hears = async (entries: readonly FirewallEntry[], ...expected: Heard[]) => {
      await lab.nodes.b.apply({ in: [...others, ...entries], out: [] }, NOW);
      await expectHeard(lab.nodes.a, targets, expected);
    };
    const [open, silent] = ['open', 'silent'] as const;
    await hears([permit(A, 'TCP', 443)], silent, open, silent, silent);
    await hears([permit(A, 'TCP', 70, 90), permit(A, 'UDP', 80)], open, silent, open, silent);
    await hears([permit(A, 'ICMP')], silent, silent, silent, open);
    await hears([permit(A, 'ALL')], open, open, open, open);
  });

  it('cuts what lives on a rule that goes, and keeps what lives on one that stays', async () => {
    await using lab = await three();
    const { a, b, c } = lab.nodes;
    await b.apply({ in: [permit(A, 'TCP', 80), permit(C, 'TCP', 80)], out: [] }, NOW);
    await a.connect(B, 80);
    await c.connect(B, 80);
    expect([await a.echoes(2_000), await c.echoes(2_000)]).toEqual([true, true]);
    await b.apply({ in: [permit(C, 'TCP', 80)], out: [] }, NOW);
    expect([await a.echoes(500), await c.echoes(2_000)]).toEqual([false, true]);
  });

  it('cuts at the side that opened, too', async () => {
    await using lab = await three();
    const { a } = lab.nodes;
    await a.apply({ in: [], out: [permit(B, 'TCP', 80)] }, NOW);
    await a.connect(B, 80);
    expect(await a.echoes(2_000)).toBe(true);
    await a.apply(NOTHING, NOW);
    expect(await a.echoes(500)).toBe(false);
  });

  it('cuts a UDP conversation both ways, however much either side goes on', async () => {
    await using lab = await three();
    const { a, b } = lab.nodes;
    await b.apply({ in: [permit(A, 'UDP', 53)], out: [] }, NOW);
    await Promise.all([a.talkOn(9_000), b.talkOn(53)]);
    const [first] = await Promise.all([b.hears(2_000), a.say({ address: B, port: 53 })]);
    const [reply] = await Promise.all([a.hears(2_000), b.say()]);
    await b.apply(NOTHING, NOW);
    const [afterwards, afterwardsBack] = await Promise.all([b.hears(500), a.hears(500), a.say(), b.say()]);
    expect([first, reply, afterwards, afterwardsBack]).toEqual([true, true, false, false]);
  });

  it('holds IPv6 to entries of its own', async () => {
    await using lab = await three();
    const { a, b } = lab.nodes;
    const [a6, b6] = ['2001:db8:1::10', '2001:db8:1::11'];
    const own = { address: b6, cidr: '2001:db8:1::/64' };
    const targets = [tcp(b6, 80), tcp(b6, 443), udp(b6, 80), icmp(b6), tcp(B, 80)];
    await b.apply({ in: [{ cidr: `${a6}/128`, protocol: 'TCP', from: 80, to: 80 }], out: [] }, NOW, own);
    await expectHeard(a, targets, ['open', 'silent', 'silent', 'silent', 'silent']);
    await b.apply({ in: [{ cidr: '2001:db8:1::/64', protocol: 'ICMP' }], out: [] }, NOW, own);
    await expectHeard(a, targets, ['silent', 'silent', 'silent', 'open', 'silent']);
    await b.apply({ in: [], out: [{ cidr: `${a6}/128`, protocol: 'ALL' }] }, NOW, own);
    await expectHeard(a, targets, ['silent', 'silent', 'silent', 'silent', 'silent']);
    await expectHeard(b, [tcp(a6, 80), udp(a6, 443), icmp(a6)], ['open', 'open', 'open']);
  });

  it('guards an interface that someone renames', async () => {
    await using lab = await three();
    const { hosts, nodes } = lab;
    await nodes.b.apply({ in: [permit(C, 'ALL')], out: [] }, NOW);
    await hosts.b.must('ip', ['link', 'set', 'eth0', 'down']);
    await hosts.b.must('ip', ['link', 'set', 'eth0', 'name', 'other0']);
    await hosts.b.must('ip', ['link', 'set', 'other0', 'up']);
    await expectHeard(nodes.c, [tcp(B, 80)], ['open']);
    await expectHeard(nodes.a, [tcp(B, 80)], ['silent']);
  });

  it('lets nothing slip through while it is replaced', async () => {
    await using lab = await three();
    const { hosts, nodes } = lab;
    const entries = Array.from({ length: 500 }, (_, index) => permit(`10.96.${index >> 8}.${index & 255}`, 'ALL'));
    await nodes.b.apply(NOTHING, NOW);
    const flood = hosts.a.run('ping', ['-f', '-q', '-w', '3', B]);
    let replacements = 0;
    for (let isOver = false; !isOver; replacements += 1) {
      await nodes.b.apply({ in: entries, out: [] }, NOW);
      isOver = await Promise.race([flood.then(() => true), nodes.b.maintain()]);
    }
    const [, sent = '', received] = /(\d+) packets transmitted, (\d+) received/.exec((await flood).stdout) ?? [];
    expect(received).toBe('0');
    expect(Math.min(replacements, Number(sent))).toBeGreaterThan(5);
  });

  it('leaves out what has expired', async () => {
    await using lab = await three();
    const { a, b } = lab.nodes;
    const entry = { ...permit(A, 'ALL'), expiresAt: '2026-01-05T00:00:01Z' };
    await b.apply({ in: [entry], out: [] }, NOW);
    await expectHeard(a, [tcp(B, 80)], ['open']);
    await b.apply({ in: [entry], out: [] }, NOW + 1_000);
    await expectHeard(a, [tcp(B, 80)], ['silent']);
  });

  it('puts its rules back when something flushed or changed them, and only then', async () => {
    await using lab = await three();
    const { nodes, hosts } = lab;
    const [a, b] = [nodes.a, nodes.b];
    expect(await b.maintain()).toBe(false);
    await b.apply({ in: [permit(A, 'TCP', 443)], out: [] }, NOW);
    expect(await b.maintain()).toBe(false);
    await hosts.b.must('nft', ['flush', 'ruleset']);
    await expectHeard(a, [tcp(B, 80)], ['open']);
    expect([await b.maintain(), await b.maintain()]).toEqual([true, false]);
    await expectHeard(a, [tcp(B, 80), tcp(B, 443)], ['silent', 'open']);
    await hosts.b.must('nft', ['insert', 'rule', 'inet', 'mesh_eth0', 'c_input', 'accept']);
    // Rules are looked at for a two hundredth of the time.
    while (!(await b.maintain()));
    expect(await b.maintain()).toBe(false);
    await expectHeard(a, [tcp(B, 80)], ['silent']);
  });

  it('lets nothing in or out any more once nobody renews it, and all that is permitted again when somebody does', async () => {
    await using lab = await three();
    const { a, b } = lab.nodes;
    const rules: FirewallRules = { in: [permit(A, 'ALL')], out: [permit(A, 'ALL')] };
    await b.leaseFor(LOOKED_AT_MS);
    await b.apply(rules, NOW);
    await a.connect(B, 80);
    const looks = async () => [await a.probe([tcp(B, 80)], TIMEOUT_MS), await b.probe([tcp(A, 80)], TIMEOUT_MS)].flat();
    await expectHeard(a, [tcp(B, 80)], ['open']);
    await expectHeard(b, [tcp(A, 80)], ['open']);
    await expect.poll(looks, { timeout: 4 * LOOKED_AT_MS }).toEqual(['silent', 'silent']);
    expect(await a.echoes(500)).toBe(false);
    await b.maintain();
    await expectHeard(a, [tcp(B, 80)], ['open']);
    await expectHeard(b, [tcp(A, 80)], ['open']);
    // TCP asks again ever more rarely.
    expect(await a.echoes(10_000)).toBe(true);
  });

  it('loses no packet while it is renewed, nor when another agent takes over in time from one that was killed', async () => {
    await using lab = await three();
    const { hosts, nodes } = lab;
    const rules: FirewallRules = { in: [permit(A, 'ALL')], out: [] };
    const until = async (flood: Promise<unknown>, step: () => Promise<unknown>) => {
      let isOver = false;
      void flood.then(() => {
        isOver = true;
      });
      for (; !isOver; await step());
    };
    const ping = () => hosts.a.ping(B, { count: 300, intervalMs: 10 });
    // Started before it is needed: on a busy machine that takes as long as the lease.
    const next = labParts(hosts.b, 'eth0');
    await next.leaseFor(LEASE_MS);
    await nodes.b.leaseFor(LEASE_MS);
    await nodes.b.apply(rules, NOW);
    // Longer than the lease.
    const first = ping();
    await until(first, () => nodes.b.maintain());
    await nodes.b.kill();
    const second = ping();
    await next.apply(rules, NOW);
    await until(second, () => next.maintain());
    expect([await first, await second]).toEqual(new Array(2).fill({ sent: 300, received: 300 }));
  });

  it('takes its rules away when it is closed, and none of others', async () => {
    await using lab = await three();
    const { nodes, hosts } = lab;
    await hosts.b.must('nft', ['add', 'table', 'inet', 'other']);
    await nodes.b.apply(NOTHING, NOW);
    await nodes.b.closeFirewall();
    await nodes.b.closeFirewall();
    expect(await hosts.b.must('nft', ['list', 'tables'])).toBe('table inet other\n');
    await expectHeard(nodes.a, [tcp(B, 80)], ['open']);
  });
});
