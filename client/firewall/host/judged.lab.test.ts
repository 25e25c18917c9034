import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FirewallEntry } from '../../../core/model/graph.ts';
import { type Natlab, natlab } from '../../../test/kits/lab/natlab.ts';
import { describePrivileged } from '../../../test/kits/lab/privileged.ts';
import { isInstalled } from '../../../test/kits/process/needs.ts';
import { runIn, type runProgram } from '../../run-program.ts';
import { judgementOf } from './blockages.ts';
import { linuxHostRules } from './host-rules.ts';
import { type Blockage, notJudgedText, textOf } from './judgement.ts';
import { metTables } from './met-tables.ts';
import { openedRecord } from './opened.ts';
import { readRuleset } from './read-ruleset.ts';

const RULESETS = path.resolve(import.meta.dirname, '../../../test/kits/lab/rulesets');
const OWN = { address: '10.96.0.1', cidr: '10.96.0.0/24' };
const OWN_SIX = { address: 'fd00:96::1', cidr: 'fd00:96::/64' };
const entry = (protocol: FirewallEntry['protocol'], from?: number, cidr = '10.96.0.2/32'): FirewallEntry => ({
  cidr,
  protocol,
  ...(from !== undefined && { from, to: from }),
});
const SSH = [entry('TCP', 22)];
const ALL_IN = [entry('TCP', 22), entry('TCP', 5_432), entry('UDP', 53), entry('ICMP')];
/** An input chain with these rules, and what else its table has. */
const input = (policy: string, rules: readonly string[], more = '') => `table inet filter {
 ${more}
 chain web { tcp dport { 80, 443 } accept; }
 chain input {
  type filter hook input priority filter; policy ${policy};
  ${rules.join('\n  ')}
 }
}
`;
const USUAL = ['ct state established,related accept', 'iifname "lo" accept'];
/** How a policy is named. */
const POLICY = 'inet filter input (policy drop) drops';
const byRule = (what: string) => `inet filter input (rule handle N) drops ${what}`;
const DROPS = byRule('TCP 22');

const readBy = async (run: typeof runProgram) => readRuleset(await metTables('mesh0', run), run);

describePrivileged('the rules of a host, as a real nft lists them', () => {
  let lab: Natlab;
  beforeAll(async () => {
    lab = await natlab({ hosts: { a: {} } });
  });
  afterAll(() => lab[Symbol.asyncDispose]());
  const read = () => readBy(runIn(lab.host('a').namespace));
  /** Each thing that is found, without the numbers of handles. */
  const judged = async (rules: readonly FirewallEntry[], own = OWN) => {
    const { blockages, notJudged } = await judgementOf(await read(), 'mesh0', own, { in: [...rules], out: [] });
    const said = [...blockages.map((one) => textOf(one, '')), ...notJudged.map(notJudgedText)];
    return said.map((one) => one.replaceAll(/handle \d+/g, 'handle N'));
  };
  const load = (ruleset: string) => lab.host('a').nft(`flush ruleset\n${ruleset}`);
  const recorded = (name: string) => lab.host('a').must('nft', ['-f', path.join(RULESETS, `${name}.nft`)]);

  it.each([
    ['a policy', 'drop', [...USUAL, 'tcp dport 22 accept'], `${POLICY} TCP 5432, UDP 53, ICMP`],
    ['a rule that names the interface', 'accept', ['iifname "mesh0" drop'], byRule('TCP 22, TCP 5432, UDP 53, ICMP')],
    ['a set of ports', 'accept', ['tcp dport { 22, 5000-6000 } drop'], byRule('TCP 22, TCP 5432')],
    ['all ports but some', 'accept', ['tcp dport != { 22, 80 } drop'], byRule('TCP 5432')],
    ['a concatenation', 'accept', ['iifname . tcp dport { "mesh0" . 22, "eth0" . 5432 } drop'], DROPS],
    ['a map of verdicts', 'accept', ['tcp dport vmap { 22 : drop, 80 : jump web }'], DROPS],
    ['a map of verdicts of two', 'accept', ['iifname . tcp dport vmap { "mesh0" . 22 : drop }'], DROPS],
    ['a block that covers the overlay', 'accept', ['ip saddr 10.0.0.0/8 tcp dport 22 drop'], DROPS],
    ['a range that covers the overlay', 'accept', ['ip saddr 10.0.0.0-10.200.0.0 tcp dport 22 drop'], DROPS],
    ['all addresses but others', 'accept', ['ip saddr != 192.168.0.0/16 tcp dport 22 drop'], DROPS],
    ['the family', 'accept', ['meta nfproto ipv4 tcp dport 22 drop'], DROPS],
    ['new connections', 'accept', ['tcp dport 22 ct state new counter drop'], DROPS],
    ['all but what is known', 'accept', ['tcp dport 22 ct state != { established, related } reject'], DROPS],
    ['the first packet by its flags', 'accept', ['tcp dport 22 tcp flags & (fin|syn|rst|ack) == syn drop'], DROPS],
    ['ICMP alone', 'accept', ['icmp type echo-request drop'], byRule('ICMP')],
    ['a protocol by its number', 'accept', ['meta l4proto 1 drop'], byRule('ICMP')],
    ['what is for this host', 'accept', ['tcp dport 22 fib daddr type local drop'], DROPS],
    ['packets for one alone', 'accept', ['tcp dport 22 meta pkttype host drop'], DROPS],
    [
      'after a log whose prefix speaks of accepting',
      'accept',
      ['tcp dport 22 log prefix "accept or return " drop'],
      DROPS,
    ],
    ['ports from one on', 'accept', ['tcp dport < 1024 drop'], DROPS],
    ['all but what is known, by its bits', 'accept', ['tcp dport 22 ct state ! established,related drop'], DROPS],
    ['all but what is known, as a value', 'accept', ['tcp dport 22 ct state != established,related drop'], DROPS],
    ['a bit that is not set', 'accept', ['tcp dport 22 tcp flags ! ack drop'], DROPS],
    ['bits that are not these', 'accept', ['tcp dport 22 tcp flags & (syn|ack) != ack drop'], DROPS],
    ['a bit that is none', 'accept', ['tcp dport 22 tcp flags & ack == 0 drop'], DROPS],
    ['where it goes, which is nowhere', 'accept', ['tcp dport 22 oifname != "eth0" drop'], DROPS],
    ['where it goes, by its number', 'accept', ['tcp dport 22 oif != "lo" drop'], DROPS],
    ['a mark that nobody wrote', 'accept', ['tcp dport 22 meta mark != 1 drop'], DROPS],
    ['a part of a mark', 'accept', ['tcp dport 22 meta mark & 0xff != 1 drop'], DROPS],
    ['a usual length', 'accept', ['tcp dport 22 meta length 0-1500 drop'], DROPS],
    ['the port that a peer sends from', 'accept', ['tcp dport 22 tcp sport 1024-65535 drop'], DROPS],
    [
      'a policy behind what accepts others',
      'drop',
      ['tcp sport 53 accept', 'meta mark 1 accept', 'tcp dport != 22 accept', 'icmp type echo-request accept'],
      `${POLICY} TCP 22, UDP 53`,
    ],
  ])('name what drops by %s', async (_, policy, rules, expected) => {
    await load(input(policy, rules));
    expect(await judged(ALL_IN)).toEqual([expected]);
  });

  it.each([
    ['the interface is accepted', ['iifname "mesh0" accept']],
    ['interfaces are accepted by the beginning of their names', ['iifname "mesh*" accept']],
    ['all interfaces but another are accepted', ['iifname != "eth0" accept']],
    ['the block of the overlay is accepted', ['ip saddr 10.96.0.0/16 accept']],
    ['a set in braces accepts it', ['ip saddr { 10.96.0.0/16, 192.168.0.0/16 } accept']],
    ['a concatenation accepts it', ['iifname . ip saddr { "mesh0" . 10.96.0.0/16 } accept']],
    ['a map accepts it', ['iifname vmap { "lo" : accept, "mesh0" : accept }']],
    ['a limit lets some in', ['limit rate 3/second accept']],
    ['it depends on the port that a peer sends from', ['tcp sport 1024-65535 accept']],
    ['a log whose prefix says drop comes before', ['log prefix "drop reject " counter', 'iifname "mesh0" accept']],
    ['only packets for many are dropped before', ['meta pkttype { broadcast, multicast } drop', 'accept']],
    ['an empty set is dropped before', ['ip saddr @nobody drop', 'accept']],
    ['a rule without a verdict comes before', ['iifname "mesh0" meta mark set 7', 'accept']],
  ])('say of nothing that it drops where %s', async (_, rules) => {
    await load(input('drop', [...USUAL, ...rules], 'set nobody { type ipv4_addr; }'));
    expect(await judged(SSH)).toEqual([]);
  });

  it.each([
    ['a set accepts it', 'set friends { type ipv4_addr; elements = { 10.96.0.2 }; }', 'ip saddr @friends accept', []],
    [
      'a set has only others',
      'set friends { type ipv4_addr; elements = { 10.96.0.3 }; }',
      'ip saddr @friends accept',
      [`${POLICY} TCP 22`],
    ],
    [
      'a set has blocks',
      'set friends { type ipv4_addr; flags interval; elements = { 10.0.0.0/8 }; }',
      'ip saddr @friends accept',
      [],
    ],
    [
      'a set has an end to what it holds',
      'set friends { type ipv4_addr; flags timeout; elements = { 10.96.0.2 timeout 1h }; }',
      'ip saddr @friends accept',
      [],
    ],
    [
      'a map drops it',
      'map zones { type ifname : verdict; elements = { "mesh0" : drop }; }',
      'iifname vmap @zones',
      [DROPS],
    ],
    [
      'a map has only others',
      'map zones { type ifname : verdict; elements = { "eth0" : accept }; }',
      'iifname vmap @zones',
      [`${POLICY} TCP 22`],
    ],
    [
      'a set has ports and interfaces',
      'set open { type ifname . inet_service; elements = { "mesh0" . 22 }; }',
      'iifname . tcp dport @open accept',
      [],
    ],
  ] as const)('look into a set that has a name: %s', async (_, set, rule, expected) => {
    await load(input('drop', [rule], set));
    expect(await judged(SSH)).toEqual(expected);
  });

  it.each([
    ['who owns a socket', 'meta skuid 0 accept', 'meta skuid'],
    ['the kind of an interface', 'meta iifkind "wireguard" accept', 'meta iifkind'],
    ['a set that packets fill', 'ip saddr @seen accept', 'the set seen, which packets fill'],
    ['a map by what is not known', 'meta cgroup vmap { 1 : accept }', 'meta cgroup'],
    ['the time of the day', 'meta hour "08:00"-"12:00" accept', 'meta hour'],
    ['lengths that some packets have', 'meta length 0-41 accept', 'meta length'],
    ['a mark that a rule wrote', 'meta mark set 7 meta mark 7 accept', 'meta mark'],
    ['a bit of an address', 'ip saddr & 0.0.0.255 == 0.0.0.2 accept', 'ip saddr'],
  ])('are not judged where they go by %s, and say so', async (_, rule, why) => {
    await load(
      input('drop', [rule, 'add @seen { ip saddr }'], 'set seen { type ipv4_addr; flags dynamic; size 100; }'),
    );
    expect(await judged(SSH)).toEqual([`not judged for TCP 22: inet filter input, rule handle N: ${why}`]);
  });

  it('are judged where what is not known makes no difference', async () => {
    await load(
      input('drop', ['meta skuid 0 drop', 'meta iifkind "wireguard" log prefix "x"', 'meta skuid 7 jump web']),
    );
    expect(await judged(SSH)).toEqual([`${POLICY} TCP 22`]);
    await load(input('accept', ['meta skuid 0 accept']));
    expect(await judged(SSH)).toEqual([]);
  });

  it('are held to IPv6 where the overlay has it', async () => {
    const six = [entry('TCP', 22, 'fd00:96::2/128'), entry('ICMP', undefined, 'fd00:96::2/128')];
    await load(input('accept', ['icmpv6 type echo-request drop', 'ip saddr != 192.168.0.0/16 drop']));
    expect(await judged(six, OWN_SIX)).toEqual([byRule('ICMP')]);
    await load(input('accept', ['meta l4proto ipv6-icmp drop', 'icmp type echo-request drop']));
    expect(await judged(six, OWN_SIX)).toEqual([byRule('ICMP')]);
    await load(input('accept', ['ip6 saddr fd00::/8 drop']));
    expect(await judged(six, OWN_SIX)).toEqual([byRule('TCP 22, ICMP')]);
  });

  it('tell a permission of everything by what of it they drop', async () => {
    await load(input('accept', ['meta l4proto icmp drop']));
    expect(await judged([entry('ALL')])).toEqual([byRule('ICMP')]);
    await load(input('drop', USUAL));
    expect(await judged([entry('ALL'), ...SSH])).toEqual([`${POLICY} all, TCP 22`]);
  });

  it('go through chains as packets do', async () => {
    await load(input('drop', ['jump web', 'tcp dport 81 return', 'goto web']));
    expect(await judged([entry('TCP', 80), entry('TCP', 81), entry('TCP', 82)])).toEqual([`${POLICY} TCP 81, TCP 82`]);
    await load(
      'table inet raw {\n chain early { type filter hook prerouting priority raw; iifname "mesh0" tcp dport 22 drop; }\n}\n',
    );
    expect(await judged(ALL_IN)).toEqual(['inet raw early (rule handle N) drops TCP 22']);
  });

  it('have no say in tables of nodes, of other families, of other hooks, and in those that sleep', async () => {
    const chain = (table: string, hook: string, flags = '') =>
      `table ${table} { ${flags}\n chain c { type filter hook ${hook} priority 0; policy drop; }\n}\n`;
    await load(
      [
        chain('inet mesh_mesh0', 'input'),
        chain('ip6 filter', 'input'),
        chain('ip filter', 'forward'),
        chain('inet asleep', 'input', 'flags dormant;'),
      ].join(''),
    );
    expect(await judged(ALL_IN)).toEqual([]);
  });

  it('are not judged where they are more than can be read, and are where they are many', async () => {
    const many = (count: number) => {
      const rules = Array.from(
        { length: count },
        (_, index) =>
          `add rule inet filter input ip saddr 192.0.${(index >> 8) & 255}.${index & 255} tcp dport ${(index % 60_000) + 1} drop\n`,
      );
      return `${input('drop', [])}${rules.join('')}`;
    };
    await load(many(10_000));
    const ruleset = await read();
    // Whoever else has work to do has a turn between two kinds of connections.
    let turns = 0;
    let isOver = false;
    const take = () => {
      turns += 1;
      if (!isOver) setImmediate(take);
    };
    setImmediate(take);
    const kinds = Array.from({ length: 32 }, (_, index) => entry('TCP', 20_000 + index));
    const { blockages } = await judgementOf(ruleset, 'mesh0', OWN, { in: kinds, out: [] });
    isOver = true;
    expect(blockages.map(({ what }) => what.length)).toEqual([32]);
    expect(turns).toBeGreaterThanOrEqual(kinds.length);
    await load(many(20_000));
    expect(await judged(SSH)).toEqual([
      'not judged for TCP 22: nft --terse list table inet filter lists more than 4 MiB',
    ]);
  });

  it('of firewalld are named by the rule that rejects, and Docker drops nothing', async () => {
    await load('');
    await recorded('firewalld');
    expect(await judged(ALL_IN)).toEqual(['inet firewalld filter_IN_public (rule handle N) drops TCP 5432, UDP 53']);
    await load('');
    await recorded('docker');
    expect(await judged(ALL_IN)).toEqual([]);
    // What is published to a container comes in as another packet.
    expect(await judged([entry('TCP', 8_080)])).toEqual([
      'not judged for TCP 8080: ip nat DOCKER, rule handle N: dnat',
    ]);
  });

  it.skipIf(!isInstalled('iptables-nft'))('of iptables are read with their extensions', async () => {
    await load('');
    const run = (...args: string[]) => lab.host('a').must('iptables-nft', args);
    for (const rule of [
      '-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
      '-i lo -m comment --comment "a drop" -j ACCEPT',
      '-p tcp -m multiport --dports 22,80:90 -j ACCEPT',
      '-p icmp --icmp-type echo-request -j ACCEPT',
      '-m limit --limit 3/min -j LOG --log-prefix "[ACCEPT] "',
      '-m addrtype --dst-type LOCAL -s 10.0.0.0/8 -p udp --dport 53 -j REJECT',
    ])
      await run('-A', 'INPUT', ...(rule.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', '')));
    await run('-P', 'INPUT', 'DROP');
    expect(await judged(ALL_IN)).toEqual([
      'ip filter INPUT (policy drop) drops TCP 5432',
      'ip filter INPUT (rule handle N) drops UDP 53',
    ]);
    await run('-I', 'INPUT', '-m', 'mac', '--mac-source', '00:11:22:33:44:55', '-j', 'ACCEPT');
    expect(await judged(SSH)).toEqual([]);
    expect(await judged([entry('TCP', 5_432)])).toEqual([
      'not judged for TCP 5432: ip filter INPUT, rule handle N: iptables --mac-source',
    ]);
  });

  it.skipIf(!isInstalled('iptables-nft'))('are closed again after iptables-restore loaded them anew', async () => {
    await load('');
    const { namespace } = lab.host('a');
    const must = (file: string, args: readonly string[]) => lab.host('a').must(file, args);
    await must('iptables-nft', ['-P', 'INPUT', 'DROP']);
    const place = mkdtempSync(path.join(tmpdir(), 'mesh-opened-'));
    const rules = linuxHostRules('mesh0', openedRecord('/of/a/node', { place }), runIn(namespace));
    const { blockages } = await rules.judge(OWN, { in: SSH, out: [] });
    const nft = { ...(blockages[0] as Blockage) };
    expect(await rules.open([nft])).toBe(true);
    expect(await judged(SSH)).toEqual([]);
    await must('sh', ['-c', 'iptables-nft-save | iptables-nft-restore']);
    await rules.close();
    expect([rules.opened(), await must('iptables-nft', ['-S', 'INPUT'])]).toEqual([undefined, '-P INPUT DROP\n']);

    // Whatever takes the comment away leaves a rule that is perhaps the node's own.
    await rules.open([nft]);
    await must('iptables-nft', ['-F', 'INPUT']);
    await must('iptables-nft', ['-A', 'INPUT', '-i', 'mesh0', '-j', 'ACCEPT']);
    await expect(rules.close()).rejects.toThrow('a rule without a comment still accepts mesh0');
    expect(rules.opened()?.changes).toEqual(['ip filter INPUT']);
    rmSync(place, { recursive: true });
  });

  it('that cannot be listed are not judged', async () => {
    await load(input('drop', []));
    const run = runIn(lab.host('a').namespace);
    const cut: typeof run = async (file, args, options) => {
      const result = await run(file, args, options);
      return args.includes('table') ? { ...result, stdout: result.stdout.slice(0, -20) } : result;
    };
    expect((await readBy(cut)).unread).toEqual(['nft --terse list table inet filter printed no whole listing']);
    const failing: typeof run = async () => ({
      code: 1,
      stdout: '',
      stderr: 'netlink: Error: cache initialization failed\n',
    });
    expect((await readBy(failing)).unread).toEqual([
      'nft -j list chains failed: netlink: Error: cache initialization failed',
    ]);
    const { notJudged } = await judgementOf(await readBy(failing), 'mesh0', OWN, { in: SSH, out: [] });
    expect(notJudged).toEqual([{ what: ['TCP 22'], why: expect.stringContaining('failed') }]);
  });

  it.skipIf(!isInstalled('iptables-legacy'))('of iptables-legacy are not judged', async () => {
    await load('');
    // The table stays in this namespace.
    const run = (...args: string[]) => lab.host('a').must('iptables-legacy', args);
    await run('-A', 'INPUT', '-j', 'DROP');
    const [said, ...others] = await judged(SSH);
    expect([said, others]).toEqual([
      'not judged for TCP 22: iptables-legacy has a table filter, whose rules are not read',
      [],
    ]);
  });
});
