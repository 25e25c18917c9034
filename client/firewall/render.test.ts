import { expect, it } from 'vitest';
import { removal, renderRules } from './render.ts';

const NOW = Date.UTC(2026, 0, 5);

it('writes one transaction in which peers that are permitted the same share a chain', () => {
  const text = renderRules(
    'mesh0',
    {
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
    },
    NOW,
  );
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
    accept
    }
    chain in4_3 {
    meta l4proto icmp accept
    }
    map in4_hosts { type ipv4_addr : verdict; elements = { 10.96.0.6 : jump in4_0, 10.96.0.7 : jump in4_0, 10.96.0.2 : jump in4_1, 10.96.0.3 : jump in4_2, 10.96.0.4 : jump in4_3 } }
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
    map out6_hosts { type ipv6_addr : verdict; elements = { fd00:0:0:0:0:0:0:2 : jump out6_1 } }
    map out6_ranges { type ipv6_addr : verdict; flags interval; elements = { fd00:0:0:0:0:0:0:0-fd00:0:0:0:0:0:0:1 : jump out6_0, fd00:0:0:0:0:0:0:3-fd00:0:0:0:ffff:ffff:ffff:ffff : jump out6_0 } }
    chain others {
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
    ct state related meta l4proto { icmp, ipv6-icmp } accept
    drop
    }
    chain c_input {
    type filter hook input priority filter; policy accept;
    iifname != "lo" ip6 daddr fd6c:7270::/64 drop
    iifname != "mesh0" accept
    ct direction original ct original ip saddr vmap @in4_hosts
    ct direction reply ct reply ip saddr vmap @out4_ranges
    ct direction reply ct reply ip6 saddr vmap @out6_hosts
    ct direction reply ct reply ip6 saddr vmap @out6_ranges
    goto others
    }
    chain c_output {
    type filter hook output priority filter; policy accept;
    oifname != "mesh0" accept
    ct direction original ct reply ip saddr vmap @out4_ranges
    ct direction original ct reply ip6 saddr vmap @out6_hosts
    ct direction original ct reply ip6 saddr vmap @out6_ranges
    ct direction reply ct original ip saddr vmap @in4_hosts
    goto others
    }
    chain c_forward_in {
    type filter hook forward priority filter; policy accept;
    iifname != "mesh0" accept
    ct direction original ct original ip saddr vmap @in4_hosts
    ct direction reply ct reply ip saddr vmap @out4_ranges
    ct direction reply ct reply ip6 saddr vmap @out6_hosts
    ct direction reply ct reply ip6 saddr vmap @out6_ranges
    goto others
    }
    chain c_forward_out {
    type filter hook forward priority filter; policy accept;
    oifname != "mesh0" accept
    ct direction original ct reply ip saddr vmap @out4_ranges
    ct direction original ct reply ip6 saddr vmap @out6_hosts
    ct direction original ct reply ip6 saddr vmap @out6_ranges
    ct direction reply ct original ip saddr vmap @in4_hosts
    goto others
    }
    }
    "
  `);
});

it('drops everything on the overlay when there are no entries', () => {
  expect(renderRules('mesh0', { in: [], out: [] }, NOW)).toContain('iifname != "mesh0" accept\ngoto others\n');
});

it('writes the rarest of more kinds of permissions than can have a chain into sets', () => {
  const entries = Array.from({ length: 1_001 }, (_, index) => ({
    cidr: `10.96.${index >> 8}.${index & 255}/32`,
    protocol: 'TCP' as const,
    from: index + 1,
    to: index + 1,
  }));
  const usual = { cidr: '10.97.0.1/32', protocol: 'TCP' as const, from: 1_001, to: 1_001 };
  const text = renderRules('mesh0', { in: [...entries, usual], out: [] }, NOW);
  expect(text.match(/^chain in4_/gm)).toHaveLength(1_000);
  expect(text).toContain('set in4_tcp { type ipv4_addr . inet_service; elements = { 10.96.3.231 . 1000 } }');
  expect(text).toContain(
    'ct direction original meta l4proto tcp ct original ip saddr . ct original proto-dst @in4_tcp accept',
  );
});

it('removes a table that may not be there', () => {
  expect(removal('mesh0')).toBe('add table inet mesh_mesh0\ndelete table inet mesh_mesh0\n');
});

it.each(['', 'a b', 'a"; flush ruleset; "', 'sixteen-letters-', '../x', 'ä'])('takes no interface named %j', (name) => {
  expect(() => renderRules(name, { in: [], out: [] }, NOW)).toThrow('is no name of an interface');
});
