import { MeshError } from '../base/errors.ts';
import { getOrInsertComputed } from '../base/get-or-insert.ts';
import type { PortEntry, Protocol } from '../model/policy.ts';

/** Ports that a pair may use: everything, or these ports. `ICMP` has no ports and so no `from` and `to`. */
export type AllowedPorts = 'ALL' | PortRange[];
export interface PortRange {
  readonly protocol: Protocol;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** An interned set of ports: equal sets of one {@link PortSets} have equal ids. */
export type PortSetId = number;
export const NO_PORTS: PortSetId = 0;
export const ALL_PORTS: PortSetId = 1;

const PROTOCOLS = ['TCP', 'UDP', 'SCTP', 'ICMP'] as const satisfies readonly Protocol[];
const LAST_PORT = 65_535;
/** Protocol and port on one number line: 65,536 codes a protocol; port 0 stays free, so ranges never join across protocols. */
const STRIDE = 65_536;
const ICMP_CODE = 3 * STRIDE + 1;
const EVERYTHING = [
  1,
  LAST_PORT,
  STRIDE + 1,
  STRIDE + LAST_PORT,
  2 * STRIDE + 1,
  2 * STRIDE + LAST_PORT,
  ICMP_CODE,
  ICMP_CODE,
];

/** Numbers kept in all sets together (200 MB). Only policies written to be told apart port by port get there. */
export const MAX_NUMBERS = 50_000_000;
/** Sets, and results for two of them, at which what is kept is dropped. */
const MAX_ENTRIES = 500_000;
/** The same of ranges in sets that have been described; some 60 bytes each. */
const MAX_DESCRIBED = 500_000;

/** Sets of which it is remembered whether any two share a port: 4 MB at most. */
const REMEMBERED = 2_048;
const SHARED = 1;
const APART = 2;

/** The place of one protocol and port on the number line; 0, which no set holds, when there is no such port. */
export function pointOf(protocol: Protocol, port: number | undefined): number {
  if (protocol === 'ICMP') return port === undefined ? ICMP_CODE : 0;
  if (port === undefined || !Number.isInteger(port) || port < 1 || port > LAST_PORT) return 0;
  return PROTOCOLS.indexOf(protocol) * STRIDE + port;
}

/**
 * Sets of ports as sorted closed ranges, each distinct set stored once. A row of the matrix is then one number a class,
 * and union, intersection and difference of two sets are computed once, however many pairs share them.
 */
export class PortSets {
  readonly #ranges: Int32Array[] = [Int32Array.of(), Int32Array.from(EVERYTHING)];
  readonly #described: AllowedPorts[] = [];
  /** Port sets of rule entries, which are applied to one peer after the other. */
  readonly #ofEntries = new WeakMap<readonly PortEntry[], PortSetId>();
  /** By a hash of their ranges: text of large sets would be larger than they are. */
  readonly #ids = new Map<number, PortSetId[]>([
    [hashOf([]), [NO_PORTS]],
    [hashOf(EVERYTHING), [ALL_PORTS]],
  ]);
  /** For pairs of the first sets: unknown, shared or apart. */
  readonly #shared: Uint8Array[] = [];
  readonly #unions = new PairTable();
  readonly #meets = new PairTable();
  readonly #differences = new PairTable();

  #numbers = EVERYTHING.length;
  #toldRanges = 0;

  /** True once the owner should start afresh, so that earlier computations leave room for later ones. */
  get isFull(): boolean {
    const entries = this.#ranges.length + this.#unions.size + this.#meets.size + this.#differences.size;
    return entries > MAX_ENTRIES || this.#numbers > MAX_NUMBERS / 4 || this.#toldRanges > MAX_DESCRIBED;
  }

  /** First and last ports of one set. */
  numbersIn(id: PortSetId): number {
    return this.#rangesOf(id).length;
  }

  /** The ports that a rule's `ports` stand for; none listed means everything. */
  ofEntries(entries: readonly PortEntry[]): PortSetId {
    if (entries.length === 0) return ALL_PORTS;
    const known = this.#ofEntries.get(entries);
    if (known !== undefined) return known;
    const id = this.#intern(mergedRanges(entries));
    this.#ofEntries.set(entries, id);
    return id;
  }

  /** The set that {@link describe} tells of. */
  ofRanges(ranges: readonly PortRange[]): PortSetId {
    if (ranges.length === 0) return NO_PORTS;
    return this.ofEntries(ranges.map(({ protocol, from, to }) => ({ protocol, port: from, endPort: to })));
  }

  /** Every port of one protocol, or one port of it. */
  ofQuery(protocol: Protocol | undefined, port: number | undefined): PortSetId {
    if (protocol === undefined && port === undefined) return ALL_PORTS;
    if (port === undefined) return this.ofEntries([{ protocol }]);
    const point = pointOf(protocol ?? 'TCP', port);
    return point === 0 ? NO_PORTS : this.#intern([point, point]);
  }

  has(id: PortSetId, point: number): boolean {
    if (id <= ALL_PORTS) return id === ALL_PORTS && point !== 0;
    const ranges = this.#rangesOf(id);
    let low = 0;
    let high = ranges.length >> 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ranges[2 * middle + 1] ?? 0) < point) low = middle + 1;
      else high = middle;
    }
    return (ranges[2 * low] ?? Number.POSITIVE_INFINITY) <= point;
  }

  union(a: PortSetId, b: PortSetId): PortSetId {
    if (a === b || b === NO_PORTS || a === ALL_PORTS) return a;
    if (a === NO_PORTS || b === ALL_PORTS) return b;
    return this.#memo(this.#unions, Math.min(a, b), Math.max(a, b), (inA, inB) => inA || inB);
  }

  meet(a: PortSetId, b: PortSetId): PortSetId {
    if (a === b || b === ALL_PORTS || a === NO_PORTS) return a;
    if (a === ALL_PORTS || b === NO_PORTS) return b;
    return this.#memo(this.#meets, Math.min(a, b), Math.max(a, b), (inA, inB) => inA && inB);
  }

  minus(a: PortSetId, b: PortSetId): PortSetId {
    if (b === NO_PORTS || a === NO_PORTS) return a;
    if (a === b || b === ALL_PORTS) return NO_PORTS;
    return this.#memo(this.#differences, a, b, (inA, inB) => inA && !inB);
  }

  /** Returns true if two sets share a port, without storing the shared set. */
  intersects(a: PortSetId, b: PortSetId): boolean {
    if (a === NO_PORTS || b === NO_PORTS) return false;
    if (a === b || a === ALL_PORTS || b === ALL_PORTS) return true;
    if (a >= REMEMBERED || b >= REMEMBERED) return this.#intersect(a, b);
    this.#shared[a] ??= new Uint8Array(REMEMBERED);
    const row = this.#shared[a];
    const known = row[b] ?? 0;
    if (known !== 0) return known === SHARED;
    const shared = this.#intersect(a, b);
    row[b] = shared ? SHARED : APART;
    return shared;
  }

  #intersect(a: PortSetId, b: PortSetId): boolean {
    const left = this.#rangesOf(a);
    const right = this.#rangesOf(b);
    let i = 0;
    let j = 0;
    while (i < left.length && j < right.length) {
      if ((left[i + 1] ?? 0) < (right[j] ?? 0)) i += 2;
      else if ((right[j + 1] ?? 0) < (left[i] ?? 0)) j += 2;
      else return true;
    }
    return false;
  }

  /** The same object for the same set, so that what is made of it can be kept beside it. */
  describe(id: PortSetId): AllowedPorts {
    const known = this.#described[id];
    if (known) return known;
    const made = this.#describe(id);
    this.#described[id] = made;
    this.#toldRanges += made.length;
    return made;
  }

  #describe(id: PortSetId): AllowedPorts {
    if (id === ALL_PORTS) return 'ALL';
    const ranges = this.#rangesOf(id);
    const result: PortRange[] = [];
    for (let i = 0; i < ranges.length; i += 2) {
      const from = ranges[i] ?? 0;
      const protocol = PROTOCOLS[Math.floor(from / STRIDE)] ?? 'ICMP';
      if (protocol === 'ICMP') result.push({ protocol });
      else result.push({ protocol, from: from % STRIDE, to: (ranges[i + 1] ?? from) % STRIDE });
    }
    return result;
  }

  #rangesOf(id: PortSetId): Int32Array {
    return this.#ranges[id] ?? Int32Array.of();
  }

  #intern(ranges: readonly number[]): PortSetId {
    const sameHash = getOrInsertComputed(this.#ids, hashOf(ranges), () => []);
    const known = sameHash.find((id) => isSame(this.#rangesOf(id), ranges));
    if (known !== undefined) return known;
    if (this.#numbers + ranges.length > MAX_NUMBERS) throw tooManyPorts();
    this.#numbers += ranges.length;
    const id = this.#ranges.length;
    this.#ranges.push(Int32Array.from(ranges));
    sameHash.push(id);
    return id;
  }

  #memo(table: PairTable, a: PortSetId, b: PortSetId, keep: (inA: boolean, inB: boolean) => boolean): PortSetId {
    let id = table.get(a, b);
    if (id === undefined) {
      id = this.#intern(combine(this.#rangesOf(a), this.#rangesOf(b), keep));
      table.set(a, b, id);
    }
    return id;
  }
}

/** FNV-1a over 32-bit words. */
function hashOf(ranges: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const number of ranges) hash = Math.imul(hash ^ number, 0x01000193);
  return hash >>> 0;
}

function isSame(a: Int32Array, b: readonly number[]): boolean {
  return a.length === b.length && a.every((number, index) => number === b[index]);
}

export function tooManyPorts(): MeshError {
  return new MeshError(
    'payload_too_large',
    'These policies tell too many sets of ports apart (docs/limits.md). Use fewer single ports, or ranges of ports.',
  );
}

/** Results by two ids: a map for each first id, since maps of small integers are several times faster than of pairs. */
class PairTable {
  readonly #rows: Map<PortSetId, PortSetId>[] = [];
  size = 0;

  get(a: PortSetId, b: PortSetId): PortSetId | undefined {
    return this.#rows[a]?.get(b);
  }

  set(a: PortSetId, b: PortSetId, result: PortSetId): void {
    this.#rows[a] ??= new Map();
    this.#rows[a].set(b, result);
    this.size++;
  }
}

function rangeOfEntry({ protocol = 'TCP', port, endPort }: PortEntry): readonly [number, number] {
  if (protocol === 'ICMP') return [ICMP_CODE, ICMP_CODE];
  const base = PROTOCOLS.indexOf(protocol) * STRIDE;
  return port === undefined ? [base + 1, base + LAST_PORT] : [base + port, base + (endPort ?? port)];
}

function mergedRanges(entries: readonly PortEntry[]): number[] {
  const merged: number[] = [];
  for (const [from, to] of entries.map(rangeOfEntry).sort(([a], [b]) => a - b)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last + 1) merged[merged.length - 1] = Math.max(last, to);
    else merged.push(from, to);
  }
  return merged;
}

/** Sweeps both range lists once; a range is open from its start to one past its end. */
function combine(a: Int32Array, b: Int32Array, keep: (inA: boolean, inB: boolean) => boolean): number[] {
  const result: number[] = [];
  let i = 0;
  let j = 0;
  let start = -1;
  while (i < a.length || j < b.length) {
    const at = Math.min(edge(a, i), edge(b, j));
    if (edge(a, i) === at) i++;
    if (edge(b, j) === at) j++;
    const kept = keep(i % 2 === 1, j % 2 === 1);
    if (kept && start < 0) start = at;
    if (!kept && start >= 0) {
      result.push(start, at - 1);
      start = -1;
    }
  }
  return result;
}

function edge(ranges: Int32Array, index: number): number {
  const value = ranges[index];
  if (value === undefined) return Number.POSITIVE_INFINITY;
  return index % 2 === 0 ? value : value + 1;
}

/** Returns true if all ports are among others. */
export function isWithin(ports: AllowedPorts, others: AllowedPorts): boolean {
  if (others === 'ALL') return true;
  if (ports === 'ALL') return false;
  return ports.every((one) => others.some((other) => covers(other, one)));
}

function covers(other: PortRange, { protocol, from, to = from }: PortRange): boolean {
  if (other.protocol !== protocol) return false;
  if (other.from === undefined) return true;
  return from !== undefined && to !== undefined && from >= other.from && to <= (other.to ?? other.from);
}
