import { expect, it } from 'vitest';
import type { FirewallEntry, FirewallRules } from '../../core/model/graph.ts';
import { pfFirewall } from './pf.ts';
import { losers, renderPf } from './pf-render.ts';

const NOW = Date.UTC(2026, 0, 5);
const OWN = { address: '10.96.0.1', cidr: '10.96.0.0/24' };
const NO_ALTQ = 'No ALTQ support in kernel\nALTQ related functions disabled\n';
const ANCHOR = 'com.apple/250.Mesh.utun96';
const tcp = (address: string, from: number, to = from): FirewallEntry => ({
  cidr: `${address}/32`,
  protocol: 'TCP',
  from,
  to,
});

it('names both addresses and both blocks while the network of a node is renumbered', () => {
  const own = { ...OWN, former: { address: '10.95.0.1', cidr: '10.95.0.0/24' } };
  const text = renderPf('utun96', own, { in: [tcp('10.96.0.3', 80)], out: [] }, NOW);
  expect(text).toContain('from <mesh_in4_0> to { 10.96.0.1, 10.95.0.1 } port 80 keep state');
  expect(text).toContain('block drop in quick on ! lo0 inet from { 10.96.0.0/24, 10.95.0.0/24 } to any');
});

it('writes one rule and one table for peers that are permitted the same, and none for another family', () => {
  const rules: FirewallRules = {
    in: [
      tcp('10.96.0.3', 80),
      tcp('10.96.0.2', 80),
      tcp('10.96.0.2', 8000, 9000),
      { cidr: '10.96.0.4/32', protocol: 'ALL' },
      { cidr: '10.96.0.5/32', protocol: 'ICMP' },
      { cidr: '10.96.0.6/32', protocol: 'SCTP', from: 1, to: 65_535 },
      { ...tcp('10.96.0.7', 22), expiresAt: '2026-01-05T00:00:00Z' },
    ],
    out: [
      { cidr: '10.96.0.8/32', protocol: 'UDP', from: 53, to: 53 },
      { cidr: '10.96.0.0/24', protocol: 'ICMP' },
      { cidr: 'fd00::2/128', protocol: 'ALL' },
    ],
  };
  expect(renderPf('utun96', OWN, rules, NOW)).toBe(`block drop in quick on ! lo0 inet6 from any to fd6c:7270::/64
table <mesh_in4_0> const { 10.96.0.5/32 }
pass in quick on utun96 inet proto icmp from <mesh_in4_0> to 10.96.0.1 keep state
table <mesh_in4_1> const { 10.96.0.2/32, 10.96.0.3/32 }
pass in quick on utun96 inet proto tcp from <mesh_in4_1> to 10.96.0.1 port 80 keep state
table <mesh_in4_2> const { 10.96.0.2/32 }
pass in quick on utun96 inet proto tcp from <mesh_in4_2> to 10.96.0.1 port 8000:9000 keep state
table <mesh_in4_3> const { 10.96.0.4/32 }
pass in quick on utun96 inet from <mesh_in4_3> to 10.96.0.1 keep state
table <mesh_out4_0> const { 10.96.0.0/24 }
pass out quick on utun96 inet proto icmp from 10.96.0.1 to <mesh_out4_0> keep state
table <mesh_out4_1> const { 10.96.0.8/32 }
pass out quick on utun96 inet proto udp from 10.96.0.1 to <mesh_out4_1> port 53 keep state
block drop quick on utun96 all
block drop in quick on ! lo0 inet from 10.96.0.0/24 to any
block drop in quick on ! lo0 inet from any to 10.96.0.1
`);
});

it('finds the peers that are permitted less than before', () => {
  const before = { in: [tcp('10.96.0.2', 80), tcp('10.96.0.3', 80)], out: [tcp('10.96.0.4', 1, 9)] };
  const after = {
    in: [tcp('10.96.0.2', 80), { ...tcp('10.96.0.3', 80), expiresAt: '2026-01-05T00:00:00Z' }],
    out: [tcp('10.96.0.4', 1, 8)],
  };
  expect([losers(before, after, NOW), losers(after, after, NOW - 1)]).toEqual([['10.96.0.3/32', '10.96.0.4/32'], []]);
});

/** pfctl of a Mac on which nobody else uses pf. */
function mac() {
  const did: string[] = [];
  const state = { isOn: false, loaded: '' };
  const firewall = pfFirewall('utun96', async (file, args, { stdin = '' } = {}) => {
    const line = [file, ...args].join(' ');
    if (!line.includes(' -s ')) did.push(line);
    const done = (stdout: string, stderr = NO_ALTQ) => ({ code: 0, stdout, stderr });
    if (args[0] === '-E') {
      state.isOn = true;
      return done('', `${NO_ALTQ}pf enabled\nToken : 17123456789012345678\n`);
    }
    if (args[0] === '-X') state.isOn = false;
    if (args.includes('-f')) state.loaded = stdin;
    if (args.includes('-F') && args.includes('-a')) state.loaded = '';
    if (args.includes('info')) {
      return done(`Status: ${state.isOn ? 'Enabled for 0 days 00:01:07' : 'Disabled'}           Debug: Urgent\n`);
    }
    return done(args.includes('rules') ? state.loaded.replace(/^table.*\n/gm, '') : '');
  });
  return { did, state, firewall };
}

it('loads its anchor in one step, turns pf on, and ends connections that are permitted no more', async () => {
  const { did, firewall } = mac();
  await firewall.apply(OWN, { in: [tcp('10.96.0.2', 80)], out: [] }, NOW);
  await firewall.apply(OWN, { in: [], out: [] }, NOW);
  expect(did).toEqual([
    `pfctl -a ${ANCHOR} -f -`,
    'pfctl -E',
    'pfctl -i utun96 -F states',
    `pfctl -a ${ANCHOR} -f -`,
    'pfctl -k 10.96.0.2/32',
    'pfctl -k 0.0.0.0/0 -k 10.96.0.2/32',
  ]);
});

it('puts back what was flushed or turned off, and only then', async () => {
  const { state, firewall } = mac();
  await firewall.apply(OWN, { in: [tcp('10.96.0.2', 80)], out: [] }, NOW);
  const loaded = state.loaded;
  expect(await firewall.maintain()).toBe(false);
  state.loaded = '';
  expect([await firewall.maintain(), state.loaded]).toEqual([true, loaded]);
  state.isOn = false;
  expect([await firewall.maintain(), await firewall.maintain(), state.isOn]).toEqual([true, false, true]);
});

it('empties its anchor and gives pf back when it is closed', async () => {
  const { did, state, firewall } = mac();
  await firewall.apply(OWN, { in: [], out: [] }, NOW);
  did.length = 0;
  await firewall.close();
  await firewall.close();
  expect(did).toEqual([`pfctl -a ${ANCHOR} -F all`, 'pfctl -X 17123456789012345678', `pfctl -a ${ANCHOR} -F all`]);
  expect([state.isOn, await firewall.maintain()]).toEqual([false, false]);
});

it('says what pfctl refused', async () => {
  const stderr = `${NO_ALTQ}pfctl: /dev/pf: Permission denied\n`;
  const firewall = pfFirewall('utun96', async () => ({ code: 1, stdout: '', stderr }));
  await expect(firewall.apply(OWN, { in: [], out: [] }, NOW)).rejects.toThrow('/dev/pf: Permission denied');
});
