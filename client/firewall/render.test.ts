import { expect, it } from 'vitest';
import type { FirewallRules } from '../../core/model/graph.ts';
import type { OwnAddress } from './own-address.ts';
import { removal, renderRules, renewal } from './render.ts';

const NOW = Date.UTC(2026, 0, 5);
const OWN: OwnAddress = { address: '10.96.0.1', cidr: '10.96.0.0/24' };
const NOTHING: FirewallRules = { in: [], out: [] };
const rendered = (rules: FirewallRules, own = OWN, name = 'mesh0') =>
  renderRules(name, { own, rules, now: NOW, leaseMs: 60_000 });

it('writes one transaction in which peers that are permitted the same share a chain', () => {
  const text = rendered({
    in: [
      { cidr: '10.96.0.2/32', protocol: 'TCP', from: 80, to: 80 },
      { cidr: '10.96.0.2/32', protocol: 'UDP', from: 1000, to: 2000 },
      { cidr: '10.96.0.3/32', protocol: 'ALL' },
      { cidr: '10.96.0.3/32', protocol: 'TCP', from: 22, to: 22 },
      { cidr: '10.96.0.4/32', protocol: 'ICMP' },
      { cidr: '10.96.0.6/32', protocol: 'TCP', from: 80, to: 80 },
      { cidr: '10.96.0.6/32', protocol: 'TCP', from: 443, to: 444 },
      { cidr: '10.96.0.7/32', protocol: 'TCP', from: 443, to: 444 },
      { cidr: '10.96.0.7/32', protocol: 'TCP', from: 80, to: 80 },
      { cidr: '10.96.0.5/32', protocol: 'ICMP', expiresAt: '2026-01-05T00:00:00Z' },
    ],
    out: [
      { cidr: '10.96.0.0/24', protocol: 'SCTP', from: 1, to: 65_535 },
      { cidr: 'fd00::2/128', protocol: 'TCP', from: 443, to: 443 },
      { cidr: 'fd00::/64', protocol: 'ICMP' },
    ],
  });
  expect(text).toMatchInlineSnapshot(`
    "add table inet mesh_mesh0
    delete table inet mesh_mesh0
    table inet mesh_mesh0 {
    chain in4_0 {
    meta l4proto tcp ct original proto-dst { 80, 443-444 } accept
    }
    chain in4_1 {
    meta l4proto tcp ct original proto-dst 80 accept
    meta l4proto udp ct original proto-dst 1000-2000 accept
    }
    chain in4_2 {
    meta l4proto icmp accept
    }
    map in4_hosts { type ipv4_addr : verdict; size 5; elements = { 10.96.0.3 : accept, 10.96.0.6 : jump in4_0, 10.96.0.7 : jump in4_0, 10.96.0.2 : jump in4_1, 10.96.0.4 : jump in4_2 } }
    chain out4_0 {
    meta l4proto sctp ct reply proto-src 1-65535 accept
    }
    map out4_ranges { type ipv4_addr : verdict; flags interval; elements = { 10.96.0.0-10.96.0.255 : jump out4_0 } }
    chain out6_0 {
    meta l4proto ipv6-icmp accept
    }
    chain out6_1 {
    meta l4proto tcp ct reply proto-src 443 accept
    meta l4proto ipv6-icmp accept
    }
    map out6_hosts { type ipv6_addr : verdict; size 1; elements = { fd00:0:0:0:0:0:0:2 : jump out6_1 } }
    map out6_ranges { type ipv6_addr : verdict; flags interval; elements = { fd00:0:0:0:0:0:0:0-fd00:0:0:0:0:0:0:1 : jump out6_0, fd00:0:0:0:0:0:0:3-fd00:0:0:0:ffff:ffff:ffff:ffff : jump out6_0 } }
    chain others {
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
    ct state related meta l4proto { icmp, ipv6-icmp } accept
    drop
    }
    chain published {
    ct original ip saddr vmap @in4_hosts
    ct state related meta l4proto { icmp, ipv6-icmp } accept
    drop
    }
    set own_address { type ipv4_addr; flags timeout; elements = { 10.96.0.1 timeout 60000ms } }
    chain from_overlay {
    ip daddr @own_address accept
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
    drop
    }
    chain to_overlay {
    ct direction reply accept
    drop
    }
    chain c_prerouting {
    type filter hook prerouting priority mangle; policy accept;
    iif "mesh0" goto from_overlay
    iif "lo" accept
    ip saddr 10.96.0.0-10.96.0.255 drop
    ip daddr 10.96.0.0-10.96.0.255 goto to_overlay
    }
    chain c_postrouting {
    type filter hook postrouting priority 300; policy accept;
    oif != "mesh0" accept
    ip saddr @own_address accept
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
    drop
    }
    chain c_input {
    type filter hook input priority filter; policy accept;
    iif != "mesh0" accept
    ct direction original ct original ip saddr vmap @in4_hosts
    ct direction reply ct reply ip saddr vmap @out4_ranges
    ct direction reply ct reply ip6 saddr vmap @out6_hosts
    ct direction reply ct reply ip6 saddr vmap @out6_ranges
    goto others
    }
    chain c_output {
    type filter hook output priority filter; policy accept;
    oif != "mesh0" accept
    ct direction original ct reply ip saddr vmap @out4_ranges
    ct direction original ct reply ip6 saddr vmap @out6_hosts
    ct direction original ct reply ip6 saddr vmap @out6_ranges
    ct direction reply ct original ip saddr vmap @in4_hosts
    goto others
    }
    chain c_forward_in {
    type filter hook forward priority filter; policy accept;
    iif != "mesh0" accept
    ct status dnat ct direction original goto published
    drop
    }
    chain c_forward_out {
    type filter hook forward priority filter; policy accept;
    oif != "mesh0" accept
    ct status dnat ct direction reply goto published
    drop
    }
    }
    "
  `);
});

it('drops everything on the overlay when there are no entries', () => {
  expect(rendered(NOTHING)).toContain('iif != "mesh0" accept\ngoto others\n');
});

it('gives the rarest of more kinds of permissions than have a chain of their own chains that they share', () => {
  const entry = (address: string, protocol: 'TCP' | 'ICMP', port?: number) => ({
    cidr: `${address}/32`,
    protocol,
    ...(port !== undefined && { from: port, to: port }),
  });
  const entries = Array.from({ length: 1_251 }, (_, index) =>
    entry(`10.96.${index >> 8}.${index & 255}`, 'TCP', index + 1),
  );
  const more = [entry('10.96.4.226', 'ICMP'), entry('10.97.0.1', 'TCP', 1_251), entry('10.97.0.2', 'TCP', 1_251)];
  const text = rendered({ in: [...entries, ...more], out: [] });
  expect(text.match(/^chain in4_\d+ {\nmeta l4proto tcp ct original proto-dst \d+ accept\n}$/gm)).toHaveLength(1_000);
  expect(text).toContain('10.97.0.2 : jump in4_0');
  expect(text.slice(text.indexOf('set in4_1001'), text.indexOf('map '))).toMatchInlineSnapshot(`
    "set in4_1001_tcp { type ipv4_addr . inet_service; size 2; elements = { 10.96.4.225 . 1250, 10.96.4.226 . 1251 } }
    set in4_1001_icmp { type ipv4_addr; size 1; elements = { 10.96.4.226 } }
    chain in4_1001 {
    meta l4proto tcp ct original ip saddr . ct original proto-dst @in4_1001_tcp accept
    meta l4proto icmp ct original ip saddr @in4_1001_icmp accept
    }
    "
  `);
});

it('removes a table that may not be there', () => {
  expect(removal('mesh0')).toBe('add table inet mesh_mesh0\ndelete table inet mesh_mesh0\n');
});

it('speaks of an overlay of IPv6 as of one of IPv4', () => {
  const text = rendered(NOTHING, { address: 'fd00::1', cidr: 'fd00::/64' });
  expect(text.slice(text.indexOf('set own_address'), text.indexOf('chain c_input'))).toMatchInlineSnapshot(`
    "set own_address { type ipv6_addr; flags timeout; elements = { fd00:0:0:0:0:0:0:1 timeout 60000ms } }
    chain from_overlay {
    ip6 daddr @own_address accept
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
    drop
    }
    chain to_overlay {
    ct direction reply accept
    drop
    }
    chain c_prerouting {
    type filter hook prerouting priority mangle; policy accept;
    iif "mesh0" goto from_overlay
    iif "lo" accept
    ip6 saddr fd00:0:0:0:0:0:0:0-fd00:0:0:0:ffff:ffff:ffff:ffff drop
    ip6 daddr fd00:0:0:0:0:0:0:0-fd00:0:0:0:ffff:ffff:ffff:ffff goto to_overlay
    }
    chain c_postrouting {
    type filter hook postrouting priority 300; policy accept;
    oif != "mesh0" accept
    ip6 saddr @own_address accept
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
    drop
    }
    "
  `);
});

it('renews the own address in one transaction, whether the lease has ended or not', () => {
  expect(renewal('mesh0', OWN, 60_000)).toBe(`add element inet mesh_mesh0 own_address { 10.96.0.1 }
delete element inet mesh_mesh0 own_address { 10.96.0.1 }
add element inet mesh_mesh0 own_address { 10.96.0.1 timeout 60000ms }
`);
});

it.each([
  { address: '10.96.0.1', cidr: 'fd00::/64' },
  { address: '10.96.0.1; flush ruleset', cidr: '10.96.0.0/24' },
  { address: '10.96.0.1', cidr: '' },
])('takes no own address like %j', (own) => {
  expect(() => rendered(NOTHING, own)).toThrow('is no address of the overlay');
});

it.each(['', 'a b', 'a"; flush ruleset; "', 'sixteen-letters-', '../x', 'ä'])('takes no interface named %j', (name) => {
  expect(() => rendered(NOTHING, OWN, name)).toThrow('is no name of an interface');
});

it('lets both addresses of a node through while its network is renumbered, and renews both', () => {
  const own = { ...OWN, former: { address: '10.95.0.1', cidr: '10.95.0.0/24' } };
  const text = rendered(NOTHING, own);
  expect(text).toContain('elements = { 10.96.0.1 timeout 60000ms, 10.95.0.1 timeout 60000ms } }');
  expect(text).toContain('ip saddr { 10.96.0.0-10.96.0.255, 10.95.0.0-10.95.0.255 } drop');
  expect(renewal('mesh0', own, 60_000)).toContain('{ 10.96.0.1 timeout 60000ms, 10.95.0.1 timeout 60000ms }');
});
