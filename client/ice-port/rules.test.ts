import { expect, test } from 'vitest';
import { removalRules, sharingRules, tableNameOf } from './rules.ts';

test('STUN to the port of WireGuard goes to the agent, and what the agent sends leaves from there', () => {
  expect(sharingRules('mesh0', 51_820, 40_000)).toBe(`table inet mesh_ice_mesh0
delete table inet mesh_ice_mesh0
table inet mesh_ice_mesh0 {
 chain stun_in {
  type filter hook input priority 1000; policy accept;
  udp dport 51820 @th,96,32 0x2112a442 @th,64,16 { 0x0001, 0x0011, 0x0101, 0x0111 } udp dport set 40000
 }
 chain from_agent {
  ip ttl set 62
  ip6 hoplimit set 62
  udp sport set 51820
 }
 chain stun_out {
  type filter hook output priority -300; policy accept;
  udp sport 40000 goto from_agent
 }
}
`);
});

test('each interface has a table of its own, named in letters that nft takes', () => {
  expect(tableNameOf('wg-mesh.1')).toBe('mesh_ice_wg_mesh_1');
  expect(removalRules('a')).toBe('table inet mesh_ice_a\ndelete table inet mesh_ice_a\n');
});
