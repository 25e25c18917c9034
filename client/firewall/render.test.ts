import { expect, it } from 'vitest';
import { removal, renderRules } from './render.ts';

const NOW = Date.UTC(2026, 0, 5);

it('writes one transaction with a set for each protocol and family that has entries', () => {
  const text = renderRules(
    'mesh0',
    {
      in: [
        { cidr: '10.96.0.2/32', protocol: 'TCP', from: 80, to: 80 },
        { cidr: '10.96.0.2/32', protocol: 'UDP', from: 1000, to: 2000 },
        { cidr: '10.96.0.3/32', protocol: 'ALL' },
        { cidr: '10.96.0.3/32', protocol: 'TCP', from: 22, to: 22 },
        { cidr: '10.96.0.4/32', protocol: 'ICMP' },
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
    set in_tcp4 { type ipv4_addr . inet_service; elements = { 10.96.0.2 . 80 } }
    set in_udp4 { type ipv4_addr . inet_service; flags interval; elements = { 10.96.0.2 . 1000-2000 } }
    set in_icmp4 { type ipv4_addr; elements = { 10.96.0.4 } }
    set in_all4 { type ipv4_addr; elements = { 10.96.0.3 } }
    set out_sctp4 { type ipv4_addr . inet_service; flags interval; elements = { 10.96.0.0-10.96.0.255 . 1-65535 } }
    set out_tcp6 { type ipv6_addr . inet_service; elements = { fd00:0:0:0:0:0:0:2 . 443 } }
    set out_icmp6 { type ipv6_addr; flags interval; elements = { fd00:0:0:0:0:0:0:0-fd00:0:0:0:0:0:0:1, fd00:0:0:0:0:0:0:2, fd00:0:0:0:0:0:0:3-fd00:0:0:0:ffff:ffff:ffff:ffff } }
    chain opened_by_peer {
    meta l4proto tcp ct original ip saddr . ct original proto-dst @in_tcp4 return
    meta l4proto udp ct original ip saddr . ct original proto-dst @in_udp4 return
    meta l4proto icmp ct original ip saddr @in_icmp4 return
    ct original ip saddr @in_all4 return
    drop
    }
    chain opened_here {
    meta l4proto sctp ct reply ip saddr . ct reply proto-src @out_sctp4 return
    meta l4proto tcp ct reply ip6 saddr . ct reply proto-src @out_tcp6 return
    meta l4proto ipv6-icmp ct reply ip6 saddr @out_icmp6 return
    drop
    }
    chain from_overlay {
    ct state . ct direction vmap { new . original : goto opened_by_peer, established . original : goto opened_by_peer, established . reply : goto opened_here }
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } return
    ct state invalid drop
    ct state related meta l4proto { icmp, ipv6-icmp } return
    ct direction original goto opened_by_peer
    goto opened_here
    }
    chain to_overlay {
    ct state . ct direction vmap { new . original : goto opened_here, established . original : goto opened_here, established . reply : goto opened_by_peer }
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } return
    ct state invalid drop
    ct state related meta l4proto { icmp, ipv6-icmp } return
    ct direction original goto opened_here
    goto opened_by_peer
    }
    chain c_input {
    type filter hook input priority filter; policy accept;
    iifname != "lo" ip6 daddr fd6c:7270::/64 drop
    iifname "mesh0" jump from_overlay
    }
    chain c_output {
    type filter hook output priority filter; policy accept;
    oifname "mesh0" jump to_overlay
    }
    chain c_forward {
    type filter hook forward priority filter; policy accept;
    iifname "mesh0" jump from_overlay
    oifname "mesh0" jump to_overlay
    }
    }
    "
  `);
});

it('drops everything on the overlay when there are no entries', () => {
  expect(renderRules('mesh0', { in: [], out: [] }, NOW)).toContain('chain opened_by_peer {\ndrop\n}');
});

it('removes a table that may not be there', () => {
  expect(removal('mesh0')).toBe('add table inet mesh_mesh0\ndelete table inet mesh_mesh0\n');
});

it.each(['', 'a b', 'a"; flush ruleset; "', 'sixteen-letters-', '../x', 'ä'])('takes no interface named %j', (name) => {
  expect(() => renderRules(name, { in: [], out: [] }, NOW)).toThrow('is no name of an interface');
});
