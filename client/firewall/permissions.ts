import { hasEnded } from '../../core/base/time.ts';
import { type IpRange, parseCidr } from '../../core/model/cidr.ts';
import type { FirewallEntry } from '../../core/model/graph.ts';
import { isPort } from '../../net/host-port.ts';

export type PortProtocol = 'TCP' | 'UDP' | 'SCTP';
export type Ports = readonly [from: number, to: number];

/** All that one range of addresses is permitted. Ranges of one family have no address in common. */
export interface Permission {
  readonly range: IpRange;
  /** Every protocol; then the rest is empty. */
  readonly all: boolean;
  readonly icmp: boolean;
  /** Sorted, neither overlapping nor adjacent. */
  readonly ports: Readonly<Record<PortProtocol, readonly Ports[]>>;
}

/** Entries that name the same block. */
interface Block {
  readonly range: IpRange;
  readonly entries: readonly FirewallEntry[];
}

const FAMILIES = [4, 6] as const;
const NO_PORTS = { TCP: [], UDP: [], SCTP: [] } as const;

/**
 * The entries in force at `now` as disjoint ranges of addresses, sorted. A packet filter's sets refuse elements that
 * overlap, entries may. An entry that cannot be read permits nothing.
 */
export function permissionsAt(entries: readonly FirewallEntry[], now: number): Permission[] {
  const inForce = entries.filter(
    // An instant that cannot be read compares false: it has passed.
    (entry) => !hasEnded(entry, now),
  );
  const blocks = [...Map.groupBy(inForce, ({ cidr }) => cidr)].flatMap(([cidr, named]): Block[] => {
    const range = parseCidr(cidr);
    return range ? [{ range, entries: named }] : [];
  });
  return FAMILIES.flatMap((family) => {
    const sorted = blocks
      .filter(({ range }) => range.family === family)
      .sort((a, b) => compare(a.range.from, b.range.from));
    return disjoint(sorted).flatMap(permissionOf);
  });
}

/** Blocks of sorted ones that have no address in common; as a rule they have none anyway. */
function disjoint(sorted: readonly Block[]): Block[] {
  const areDisjoint = sorted.every(({ range }, index) => {
    const before = sorted[index - 1];
    return before === undefined || before.range.to < range.from;
  });
  return areDisjoint ? [...sorted] : split(sorted);
}

/** Cuts blocks at the edges of all others. */
function split(sorted: readonly Block[]): Block[] {
  const edges = [...new Set(sorted.flatMap(({ range }) => [range.from, range.to + 1n]))].sort(compare);
  let open: Block[] = [];
  let next = 0;
  return edges.flatMap((from, index): Block[] => {
    open = open.filter(({ range }) => range.to >= from);
    for (let block = sorted[next]; block?.range.from === from; block = sorted[next]) {
      open.push(block);
      next += 1;
    }
    const end = edges[index + 1];
    const [first] = open;
    if (first === undefined || end === undefined) return [];
    const range = { family: first.range.family, from, to: end - 1n };
    return [{ range, entries: open.flatMap(({ entries }) => entries) }];
  });
}

function permissionOf({ range, entries }: Block): Permission[] {
  const ports: Record<PortProtocol, Ports[]> = { TCP: [], UDP: [], SCTP: [] };
  let icmp = false;
  for (const { protocol, from, to } of entries) {
    if (protocol === 'ALL') return [{ range, all: true, icmp: false, ports: NO_PORTS }];
    if (protocol === 'ICMP') icmp = true;
    else if (isPort(from) && isPort(to) && from <= to) ports[protocol]?.push([from, to]);
  }
  const merged = { TCP: coalesced(ports.TCP), UDP: coalesced(ports.UDP), SCTP: coalesced(ports.SCTP) };
  const isEmpty = !icmp && merged.TCP.length + merged.UDP.length + merged.SCTP.length === 0;
  return isEmpty ? [] : [{ range, all: false, icmp, ports: merged }];
}

function coalesced(ranges: readonly Ports[]): readonly Ports[] {
  if (ranges.length < 2) return ranges;
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
