import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Natlab, natlab } from '../../../test/kits/lab/natlab.ts';
import { describePrivileged } from '../../../test/kits/lab/privileged.ts';
import { isInstalled } from '../../../test/kits/process/needs.ts';
import { runIn } from '../../run-program.ts';
import { translationsInto } from './translations.ts';

const MIB = 1_048_576;

/** As kube-proxy 1.31 writes them for iptables, shortened. */
const KUBE_PROXY_IPTABLES = `*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-SEP-API - [0:0]
:KUBE-SEP-DNS - [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-SVC-API - [0:0]
:KUBE-SVC-DNS - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OUTPUT -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
-A KUBE-POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE
-A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m comment --comment "default/kubernetes:https cluster IP" -m tcp --dport 443 -j KUBE-SVC-API
-A KUBE-SERVICES -d 10.96.0.10/32 -p udp -m comment --comment "kube-system/kube-dns:dns cluster IP" -m udp --dport 53 -j KUBE-SVC-DNS
-A KUBE-SVC-API ! -s 10.244.0.0/16 -d 10.96.0.1/32 -p tcp -m tcp --dport 443 -j KUBE-MARK-MASQ
-A KUBE-SVC-API -m comment --comment "default/kubernetes:https -> 172.18.0.2:6443" -j KUBE-SEP-API
-A KUBE-SEP-API -p tcp -m tcp -j DNAT --to-destination 172.18.0.2:6443
-A KUBE-SVC-DNS -m statistic --mode random --probability 0.5 -j KUBE-SEP-DNS
-A KUBE-SEP-DNS -p udp -m udp -j DNAT --to-destination 10.244.0.2:53
COMMIT
`;

/** As its mode nftables writes them, shortened. */
const KUBE_PROXY_NFTABLES = `table ip kube-proxy {
 map service-ips {
  type ipv4_addr . inet_proto . inet_service : verdict
  elements = { 10.96.0.1 . tcp . 443 : goto service-api, 10.96.0.10 . udp . 53 : goto service-dns, 10.111.0.7 . tcp . 80 : goto service-api }
 }
 chain endpoint-api { meta l4proto tcp dnat to 172.18.0.2:6443; }
 chain endpoint-dns { meta l4proto udp dnat to 10.244.0.2:53; }
 chain service-api { numgen random mod 1 vmap { 0 : goto endpoint-api }; }
 chain service-dns { numgen random mod 1 vmap { 0 : goto endpoint-dns }; }
 chain services { ip daddr . meta l4proto . th dport vmap @service-ips; }
 chain nat-prerouting { type nat hook prerouting priority dstnat; policy accept; jump services; }
 chain nat-output { type nat hook output priority -100; policy accept; jump services; }
}
`;

/** Rules of Docker, of a router, and of a proxy that leaves private addresses alone. */
const HARMLESS = `table ip nat {
 chain docker { iifname != "docker0" tcp dport 8080 dnat to 172.17.0.2:80; ip daddr 127.0.0.1 tcp dport 5000 dnat to 172.17.0.3:5000; }
 chain proxy { ip daddr { 10.0.0.0/8, 192.168.0.0/16 } return; tcp dport 80 redirect to :3128; }
 chain left { ip daddr 10.96.0.1 dnat to 172.18.0.2; }
 chain prerouting { type nat hook prerouting priority dstnat; policy accept; fib daddr type local jump docker; ip daddr 203.0.113.7 dnat to 192.168.1.5; ip daddr != 10.96.0.0/24 tcp dport 53 redirect to :53; jump proxy; }
 chain postrouting { type nat hook postrouting priority srcnat; policy accept; ip daddr 10.96.0.0/24 masquerade; }
}
table ip filter {
 chain forward { type filter hook forward priority filter; policy accept; ip daddr 10.96.0.1 counter accept; }
}
`;

describePrivileged('translations of the addresses of a block', () => {
  let lab: Natlab;
  beforeAll(async () => {
    lab = await natlab({ hosts: { a: {}, legacy: {} } });
  });
  afterAll(() => lab[Symbol.asyncDispose]());
  const host = (name = 'a') => lab.host(name);
  const found = (cidr = '10.96.0.0/24', name = 'a', maxBytes = MIB) =>
    translationsInto(cidr, maxBytes, runIn(host(name).namespace));
  const load = (ruleset: string) => host().nft(`flush ruleset\n${ruleset}`);

  it('are named for kube-proxy by nftables', async () => {
    await load(KUBE_PROXY_NFTABLES);
    expect(await found()).toEqual(['10.96.0.1, 10.96.0.10 (chain services of the table ip kube-proxy)']);
    expect(await found('10.97.0.0/24')).toEqual([]);
  });

  it.runIf(isInstalled('iptables-nft-restore'))('are named for kube-proxy by iptables', async () => {
    await load('');
    await host().must('iptables-nft-restore', [], { stdin: KUBE_PROXY_IPTABLES });
    expect(await found()).toEqual(['10.96.0.1, 10.96.0.10 (chain KUBE-SERVICES of the table ip nat)']);
    expect(await found('10.97.0.0/24')).toEqual([]);
  });

  it.runIf(isInstalled('iptables-legacy-restore'))('are named for kube-proxy by the older iptables', async () => {
    const restored = await host('legacy').run('iptables-legacy-restore', [], { stdin: KUBE_PROXY_IPTABLES });
    // A kernel may have no such tables any more.
    if (restored.code !== 0) return;
    const expected = ['10.96.0.1/32, 10.96.0.10/32 (chain KUBE-SERVICES of the table nat of iptables-legacy)'];
    expect(await found('10.96.0.0/24', 'legacy')).toEqual(expected);
  });

  it('are named for sets, prefixes, ranges and maps', async () => {
    await load(`table ip nat {
      set some { type ipv4_addr; flags interval; elements = { 10.96.0.16/28, 10.99.0.1 } }
      chain prerouting {
        type nat hook prerouting priority dstnat; policy accept;
        ip daddr @some dnat to 172.18.0.2
        ip daddr 10.96.0.40-10.96.0.50 redirect
        dnat to ip daddr map { 10.96.0.60 : 172.18.0.3, 10.98.0.1 : 172.18.0.4 }
      }
    }`);
    expect(await found()).toEqual([
      '10.96.0.16/28, 10.96.0.40-10.96.0.50, 10.96.0.60 (chain prerouting of the table ip nat)',
    ]);
  });

  it('are none for rules that translate something else, or leave the block alone', async () => {
    await load(HARMLESS);
    expect(await found()).toEqual([]);
  });

  it('are taken for possible in a table that is too large to be read', async () => {
    await load(KUBE_PROXY_NFTABLES);
    expect(await found('10.96.0.0/24', 'a', 2_048)).toEqual([
      expect.stringMatching(/^some of the table ip kube-proxy, which has more than /),
    ]);
  });
});
