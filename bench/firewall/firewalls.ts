import type { FirewallEntry, FirewallRules } from '../../core/model/graph.ts';
import type { LabHost } from '../../test/kits/lab/natlab.ts';
import type { LabParts } from '../../test/kits/lab/natlab-parts.ts';

/** How many ports an entry names, and by how many different ones entries begin. */
const KINDS = {
  'one port each': { span: 0, kinds: 500 },
  'a range of ports each': { span: 1_000, kinds: 500 },
  'a range that no other has': { span: 1_000, kinds: 50_000 },
} as const;
export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as Kind[];

export const NONE = 'none';
/** Measured as if it were one: how far a figure of none is from another. */
const NONE_AGAIN = 'none, once more';

/** The least that a stateful firewall can be. */
const ONE_STATEFUL_RULE = `table inet by_hand {
 chain input {
  type filter hook input priority filter; policy accept;
  ct state invalid drop
 }
}
`;

/** `count` entries of as many peers; the last, which is found last, is the one that packets are measured with. */
export function entries(count: number, kind: Kind, protocol: 'TCP' | 'UDP', peer: string): FirewallEntry[] {
  const { span, kinds } = KINDS[kind];
  const entry = (address: string, from: number) => ({ cidr: `${address}/32`, protocol, from, to: from + span });
  const others = Array.from({ length: count - 1 }, (_, index) =>
    entry(`10.${90 + (index >> 14)}.${(index >> 6) & 255}.${(index & 63) + 1}`, 6_000 + (index % kinds)),
  );
  return [...others, entry(peer, 5_201)];
}

/** By name, what puts it on a host in place of the one before and waits until nothing looks at it: that is no cost of packets. */
export function firewallsOf(
  host: LabHost,
  parts: LabParts,
  rules: (count: number, kind: Kind) => FirewallRules,
): ReadonlyMap<string, () => Promise<void>> {
  const nothing = async () => {
    await parts.closeFirewall();
    await host.nft('add table inet by_hand\ndelete table inet by_hand\n');
  };
  const ours = (count: number, kind: Kind) => async () => {
    await nothing();
    await parts.apply(rules(count, kind), 0);
    await parts.maintain();
  };
  const byHand = async () => {
    await nothing();
    await host.nft(ONE_STATEFUL_RULE);
  };
  return new Map([
    [NONE, nothing],
    [NONE_AGAIN, nothing],
    ['one stateful rule by hand', byHand],
    ['one entry', ours(1, 'one port each')],
    ...KIND_NAMES.map((kind) => [`10,000, ${kind}`, ours(10_000, kind)] as const),
  ]);
}
