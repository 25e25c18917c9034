import { hasEnded } from '../../core/base/time.ts';
import { parseCidr } from '../../core/model/cidr.ts';
import type { FirewallEntry, FirewallRules } from '../../core/model/graph.ts';
import { isPort } from '../../net/host-port.ts';
import { placesOf } from '../places.ts';
import { RELAY_ENDPOINTS } from '../relay-endpoints.ts';
import { type OwnAddress, parseOwnAddress } from './own-address.ts';

/**
 * The rules of one overlay interface for macOS' pf, to be loaded into an anchor of their own. pf remembers connections
 * itself (`keep state`): see {@link losers} for those that must end.
 *
 * Packets on the overlay interface go to this node's own address or come from it; once all of that is decided, the
 * overlay's block may be on no other interface but the loopback.
 *
 * SCTP is left out: pf knows no ports of it, and macOS does not speak it.
 */
export function renderPf(interfaceName: string, own: OwnAddress, rules: FirewallRules, now: number): string {
  const overlay = requireName(interfaceName);
  const words = wordsOf(own);
  const { inet, address, cidr } = words;
  return `${[
    `block drop in quick on ! lo0 inet6 from any to ${RELAY_ENDPOINTS}`,
    ...renderDirection('in', overlay, words, inForceAt(rules.in, now)),
    ...renderDirection('out', overlay, words, inForceAt(rules.out, now)),
    `block drop quick on ${overlay} all`,
    `block drop in quick on ! lo0 ${inet} from ${cidr} to any`,
    `block drop in quick on ! lo0 ${inet} from any to ${address}`,
  ].join('\n')}\n`;
}

/** Addresses that were permitted something which they no longer are: their connections end. */
export function losers(before: FirewallRules, after: FirewallRules, now: number): string[] {
  const gone = (['in', 'out'] as const).flatMap((direction) => {
    const kept = new Set(inForceAt(after[direction], now).map(keyOf));
    return before[direction].filter((entry) => !kept.has(keyOf(entry))).map(({ cidr }) => cidr);
  });
  return [...new Set(gone)].filter((cidr) => parseCidr(cidr) !== undefined).sort();
}

const FAMILIES = { 4: { inet: 'inet', icmp: 'icmp' }, 6: { inet: 'inet6', icmp: 'icmp6' } } as const;

/** How the rules of an overlay, which is of one family, speak of it. */
function wordsOf(own: OwnAddress) {
  const { family } = parseOwnAddress(own);
  const places = placesOf(own);
  const address = anyOf(places.map((place) => place.address));
  return { family, ...FAMILIES[family], address, cidr: anyOf(places.map((place) => place.cidr)) };
}

function anyOf(texts: readonly string[]): string {
  return texts.length === 1 ? texts.join('') : `{ ${texts.join(', ')} }`;
}

type Words = ReturnType<typeof wordsOf>;

/** Peers that are permitted the same share one table and one rule. */
function renderDirection(
  direction: 'in' | 'out',
  overlay: string,
  words: Words,
  entries: readonly FirewallEntry[],
): string[] {
  const { family, inet, icmp, address } = words;
  const groups = new Map<string, Set<string>>();
  for (const entry of entries) {
    const match = matchOf(entry, icmp);
    if (match === undefined || parseCidr(entry.cidr)?.family !== family) continue;
    const group = groups.get(match) ?? new Set();
    groups.set(match, group.add(entry.cidr));
  }
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([match, cidrs], index) => {
    const table = `<mesh_${direction}${family}_${index}>`;
    const [protocol, port] = match.split('|');
    const ends = direction === 'in' ? `from ${table} to ${address}${port}` : `from ${address} to ${table}${port}`;
    return [
      `table ${table} const { ${[...cidrs].sort().join(', ')} }`,
      `pass ${direction} quick on ${overlay} ${inet}${protocol} ${ends} keep state`,
    ];
  });
}

/** Protocol and port of a rule, either side of its addresses; undefined when the entry permits nothing here. */
function matchOf({ protocol, from, to }: FirewallEntry, icmp: string): string | undefined {
  if (protocol === 'ALL') return '|';
  if (protocol === 'ICMP') return ` proto ${icmp}|`;
  if (protocol === 'SCTP' || !isPort(from) || !isPort(to) || from > to) return undefined;
  return ` proto ${protocol.toLowerCase()}| port ${from === to ? from : `${from}:${to}`}`;
}

function inForceAt(entries: readonly FirewallEntry[], now: number): FirewallEntry[] {
  return entries.filter((entry) => !hasEnded(entry, now));
}

function keyOf({ cidr, protocol, from, to }: FirewallEntry): string {
  return `${cidr} ${protocol} ${from} ${to}`;
}

function requireName(interfaceName: string): string {
  if (!/^utun\d{1,4}$/.test(interfaceName)) throw new Error(`${interfaceName} is no tunnel of macOS.`);
  return interfaceName;
}
