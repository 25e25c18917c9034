import { type IpRange, parseCidr } from '../../core/network/cidr.ts';
import type { FirewallEntry } from '../../core/network/graph.ts';
import { parseInstant } from '../../core/time.ts';

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

interface Placed {
  readonly range: IpRange;
  readonly entry: FirewallEntry;
}

const FAMILIES = [4, 6] as const;
const LAST_PORT = 65_535;
const NO_PORTS = { TCP: [], UDP: [], SCTP: [] } as const;

/**
 * The entries in force at `now` as disjoint ranges of addresses, sorted. A packet filter's sets refuse elements that
 * overlap, entries may. An entry that cannot be read permits nothing.
 */
export function permissionsAt(entries: readonly FirewallEntry[], now: number): Permission[] {
  const placed = entries.flatMap((entry): Placed[] => {
    const range = parseCidr(entry.cidr);
    // An instant that cannot be read compares false: it has passed.
    const inForce = entry.expiresAt === undefined || parseInstant(entry.expiresAt) > now;
    return range && inForce ? [{ range, entry }] : [];
  });
  return FAMILIES.flatMap((family) => disjoint(placed.filter(({ range }) => range.family === family)));
}

function disjoint(placed: readonly Placed[]): Permission[] {
  const starts = placed.toSorted((a, b) => compare(a.range.from, b.range.from));
  const edges = [...new Set(placed.flatMap(({ range }) => [range.from, range.to + 1n]))].sort(compare);
  const permissions: Permission[] = [];
  let open: Placed[] = [];
  let next = 0;
  for (const [index, from] of edges.entries()) {
    open = open.filter(({ range }) => range.to >= from);
    for (let start = starts[next]; start?.range.from === from; start = starts[next]) {
      open.push(start);
      next += 1;
    }
    const end = edges[index + 1];
    const [first] = open;
    if (first === undefined || end === undefined) continue;
    const range = { family: first.range.family, from, to: end - 1n };
    const permission = combined(range, open);
    if (permission) permissions.push(permission);
  }
  return permissions;
}

function combined(range: IpRange, open: readonly Placed[]): Permission | undefined {
  if (open.some(({ entry }) => entry.protocol === 'ALL')) return { range, all: true, icmp: false, ports: NO_PORTS };
  const icmp = open.some(({ entry }) => entry.protocol === 'ICMP');
  const ports = { TCP: portsOf('TCP', open), UDP: portsOf('UDP', open), SCTP: portsOf('SCTP', open) };
  const isEmpty = !icmp && ports.TCP.length + ports.UDP.length + ports.SCTP.length === 0;
  return isEmpty ? undefined : { range, all: false, icmp, ports };
}

function portsOf(protocol: PortProtocol, open: readonly Placed[]): Ports[] {
  const ranges = open.flatMap(({ entry }): Ports[] => {
    const { from, to } = entry;
    const isRange = entry.protocol === protocol && isPort(from) && isPort(to) && from <= to;
    return isRange ? [[from, to]] : [];
  });
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

function isPort(port: number | undefined): port is number {
  return port !== undefined && Number.isInteger(port) && port >= 1 && port <= LAST_PORT;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
