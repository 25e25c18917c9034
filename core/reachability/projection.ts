import { getOrInsertComputed } from '../base/get-or-insert.ts';
import type { IpRange } from '../model/cidr.ts';
import type { Selector } from '../model/policy.ts';
import type { PolicyCode, RuleCode } from './program.ts';

/** The distinctions that a set of policies can make: listed peers, label keys with their values, and address boundaries. */
export interface Projection {
  readonly key: string;
  /** By id of a listed peer: its group. Peers that are in the same lists are in one group. */
  readonly groups: ReadonlyMap<string, number>;
  readonly labels: readonly { readonly key: string; readonly values: ReadonlyMap<string, number> }[];
  /** Sorted starts of the address atoms on the {@link onLine} axis. */
  readonly edges: readonly bigint[];
}

export function projectionOf(policies: readonly PolicyCode[], reaches: readonly RuleCode[]): Projection {
  const labels = new Map<string, Map<string, number>>();
  const edges = new Set<bigint>();
  const lists = new Map<string, readonly string[]>();
  const addSelector = ({ peers, notPeers, matchLabels, matchExpressions }: Selector) => {
    for (const list of [peers, notPeers]) if (list?.length) lists.set(list.toSorted().join(), list);
    for (const [key, value] of Object.entries(matchLabels ?? {})) addValues(labels, key, [value]);
    for (const { key, values } of matchExpressions ?? []) addValues(labels, key, values ?? []);
  };
  const addRule = (rule: RuleCode) => {
    rule.selectors.forEach(addSelector);
    for (const { cidr, except } of rule.blocks) {
      for (const range of [cidr, ...except]) {
        edges.add(onLine(range, range.from));
        edges.add(onLine(range, range.to) + 1n);
      }
    }
  };
  for (const policy of policies) {
    addSelector(policy.subject);
    policy.egress?.forEach(addRule);
    policy.ingress?.forEach(addRule);
  }
  reaches.forEach(addRule);
  const sorted = [...edges].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const keys = [...labels.keys()].sort();
  const projected = keys.map((key) => {
    const values = [...(labels.get(key) ?? [])].map(([value]) => value).sort();
    return { key, values: new Map(values.map((value, index) => [value, index])) };
  });
  const groups = groupsOf([...lists].sort(byText).map(([, list]) => list));
  const key = JSON.stringify([
    projected.map((label) => [label.key, ...label.values.keys()]),
    sorted.map(String),
    [...groups],
  ]);
  return { key, groups, labels: projected, edges: sorted };
}

function byText([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** So that a list of many peers divides them no more than a label on them would. */
function groupsOf(lists: readonly (readonly string[])[]): Map<string, number> {
  const listsOf = new Map<string, number[]>();
  for (const [index, list] of lists.entries()) {
    for (const id of new Set(list)) getOrInsertComputed(listsOf, id, () => []).push(index);
  }
  const numbers = new Map<string, number>();
  const groups = new Map<string, number>();
  for (const [id, indexes] of listsOf) {
    groups.set(
      id,
      getOrInsertComputed(numbers, indexes.join(), () => numbers.size),
    );
  }
  return groups;
}

/** Returns true if a projection distinguishes all that another does; it may distinguish more. */
export function tellsAll(projection: Projection, named: Projection): boolean {
  const edges = new Set(projection.edges);
  const values = new Map(projection.labels.map((label) => [label.key, label.values]));
  return (
    tellsGroups(projection, named) &&
    named.edges.every((edge) => edges.has(edge)) &&
    named.labels.every((label) => {
      const known = values.get(label.key);
      return known !== undefined && [...label.values.keys()].every((value) => known.has(value));
    })
  );
}

/** Returns true if a projection distinguishes the peers of each of these groups from all others. */
function tellsGroups(projection: Projection, named: Projection): boolean {
  const namedOf = new Map<number, number>();
  for (const [id, group] of projection.groups) {
    const wanted = named.groups.get(id) ?? NO_GROUP;
    if (getOrInsertComputed(namedOf, group, () => wanted) !== wanted) return false;
  }
  for (const id of named.groups.keys()) if (!projection.groups.has(id)) return false;
  return true;
}

const NO_GROUP = -1;

/** The first and the last atom of a range. */
export interface Atoms {
  readonly from: number;
  readonly to: number;
}

/** IPv6 lies above IPv4 on one axis. */
const IPV6_OFFSET = 1n << 40n;

function onLine({ family }: IpRange, address: bigint): bigint {
  return family === 4 ? address : address + IPV6_OFFSET;
}

export function atomsOf(range: IpRange, edges: readonly bigint[]): Atoms {
  return { from: atomAt(onLine(range, range.from), edges), to: atomAt(onLine(range, range.to), edges) };
}

/** How many atoms start at or below the address. */
function atomAt(address: bigint, edges: readonly bigint[]): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edges[middle] ?? 0n) <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

function addValues(labels: Map<string, Map<string, number>>, key: string, values: readonly string[]): void {
  const known = getOrInsertComputed(labels, key, () => new Map<string, number>());
  for (const value of values) known.set(value, 0);
}
