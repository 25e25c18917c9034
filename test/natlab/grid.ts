import type { LabSpec } from '../kits/lab/natlab.ts';

/** Where a node of the grid stands. */
export const PLACES = {
  open: 'on the internet',
  firewall: 'on the internet, its own firewall drops what was not asked for',
  easy: 'behind a NAT that keeps ports',
  hard: 'behind a NAT that draws a new port for every destination',
  lan: 'on the same LAN as "easy"',
  double: 'behind two NATs, one behind the other',
  ipv6: 'on the internet, with IPv6 alone',
} as const;

export type Place = keyof typeof PLACES;

/** Three nodes of each place, so that a place meets itself too, also where the nodes are of two kinds. */
export function hostsOf(place: Place): readonly [string, string, string] {
  return [`${place}-1`, `${place}-2`, `${place}-3`];
}

const HOSTS: LabSpec['hosts'] = {
  'open-1': {},
  'open-2': {},
  'open-3': {},
  'firewall-1': { firewall: true },
  'firewall-2': { firewall: true },
  'firewall-3': { firewall: true },
  'easy-1': { behind: 'home' },
  'easy-2': { behind: 'cafe' },
  'easy-3': { behind: 'cafe' },
  'hard-1': { behind: 'office' },
  'hard-2': { behind: 'campus' },
  'hard-3': { behind: 'campus' },
  'lan-1': { behind: 'home' },
  'lan-2': { behind: 'home' },
  'lan-3': { behind: 'home' },
  'double-1': { behind: 'flat' },
  'double-2': { behind: 'shed' },
  'double-3': { behind: 'shed' },
  'ipv6-1': { family: 'ipv6' },
  'ipv6-2': { family: 'ipv6' },
  'ipv6-3': { family: 'ipv6' },
};

/** The lab with these hosts alone. */
export function gridLab(names: Iterable<string> = Object.keys(HOSTS)): LabSpec {
  return {
    routers: {
      home: { nat: 'easy' },
      cafe: { nat: 'easy' },
      office: { nat: 'hard' },
      campus: { nat: 'hard' },
      house: { nat: 'easy' },
      flat: { nat: 'easy', behind: 'house' },
      farm: { nat: 'easy' },
      shed: { nat: 'easy', behind: 'farm' },
    },
    hosts: Object.fromEntries([...names].map((name) => [name, HOSTS[name] ?? {}])),
  };
}

/**
 * Whether two places can meet without a relay. A mapping that is the same to everyone can be told to the other side; one that
 * is drawn anew for every destination cannot, so it needs a side that takes packets from a port it never sent to. IPv6 alone
 * meets whoever has IPv6 too, and here no NAT carries it.
 *
 * @param mixesFamilies whether a node that has IPv4 can use IPv6 beside it
 */
export function isDirectPossible([a, b]: readonly [Place, Place], mixesFamilies: boolean): boolean {
  const has = (place: Place) => a === place || b === place;
  const hasIpv6 = (place: Place) => place === 'open' || place === 'firewall' || place === 'ipv6';
  if (has('ipv6')) return a === b || (mixesFamilies && hasIpv6(a) && hasIpv6(b));
  if (has('hard')) return has('open');
  return true;
}

export interface Pair {
  readonly places: readonly [Place, Place];
  readonly nodes: readonly [string, string];
}

/** Every pair of places once. `lan` meets `easy` and itself behind one router. */
export const PAIRS: readonly Pair[] = (Object.keys(PLACES) as Place[]).flatMap((a, index, all) =>
  all.slice(index).map((b): Pair => ({ places: [a, b], nodes: [hostsOf(a)[0], hostsOf(b)[a === b ? 1 : 0]] })),
);
