import { type IpRange, parseAddress, parseRange, rangeBetween } from '../model/cidr.ts';
import type { Selector } from '../model/policy.ts';
import { andInto, andNotInto, type Bits, emptyBits, orInto, setBit } from './bits.ts';
import type { ExternalInput, PeerInput } from './model.ts';
import type { BlockCode, PolicyCode, RuleCode } from './program.ts';

/** What a set of policies can tell apart: peers that they list, label keys with their values, and address boundaries. */
export interface Projection {
  readonly key: string;
  /** By id of a listed peer: its group. Peers that are in the same lists are in one group. */
  readonly groups: ReadonlyMap<string, number>;
  readonly labels: readonly { readonly key: string; readonly values: ReadonlyMap<string, number> }[];
  /** Sorted starts of the address atoms on the {@link onLine} axis. */
  readonly edges: readonly bigint[];
}

/** Endpoints that no policy of a {@link Projection} can tell apart. */
export interface EndpointClass {
  readonly signature: string;
  readonly network: string | undefined;
  readonly group: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly address: { readonly from: number; readonly to: number } | undefined;
}

const OTHER_VALUE = -1;
const ABSENT = -2;

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
    for (const id of new Set(list)) entryOf(listsOf, id, () => []).push(index);
  }
  const numbers = new Map<string, number>();
  const groups = new Map<string, number>();
  for (const [id, indexes] of listsOf) {
    groups.set(
      id,
      entryOf(numbers, indexes.join(), () => numbers.size),
    );
  }
  return groups;
}

/** Whether a projection tells the peers of each of these groups from all others. */
export function tellsGroups(projection: Projection, named: Projection): boolean {
  const namedOf = new Map<number, number>();
  for (const [id, group] of projection.groups) {
    const wanted = named.groups.get(id) ?? NO_GROUP;
    if (entryOf(namedOf, group, () => wanted) !== wanted) return false;
  }
  for (const id of named.groups.keys()) if (!projection.groups.has(id)) return false;
  return true;
}

const NO_GROUP = -1;

/** The class of a peer. Its address counts only where some policy names addresses. */
export function classOfPeer(peer: PeerInput, projection: Projection): EndpointClass {
  const { labels, edges, groups } = projection;
  const range = edges.length > 0 && peer.address !== undefined ? parseAddress(peer.address) : undefined;
  const address = range && atomsOf(range, edges);
  let signature = `${peer.network.length}:${peer.network}`;
  for (const { key, values } of labels) {
    const value = Object.hasOwn(peer.labels, key) ? peer.labels[key] : undefined;
    signature += `,${value === undefined ? ABSENT : (values.get(value) ?? OTHER_VALUE)}`;
  }
  if (address) signature += `@${address.from}`;
  const group = groups.size === 0 ? undefined : groups.get(peer.uid ?? peer.name);
  if (group !== undefined) signature += `#${group}`;
  return { signature, network: peer.network, group, labels: peer.labels, address };
}

/** The class of an external. One whose range cannot be read is matched by no block. */
export function classOfExternal(external: ExternalInput, projection: Projection): EndpointClass {
  const range = typeof external.range === 'string' ? parseRange(external.range) : rangeBetween(...external.range);
  const address = range && atomsOf(range, projection.edges);
  const signature = address ? `x@${address.from}-${address.to}` : 'x';
  return { signature, network: undefined, group: undefined, labels: {}, address };
}

/**
 * The classes of one projection as bit positions, with what selectors and rules select among them.
 * Everything computed here depends on the projection and the classes alone, so consecutive states share it.
 */
export class ClassSpace {
  readonly projection: Projection;
  readonly classes: readonly EndpointClass[];
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #everyone: Bits;
  readonly #peers: Bits;
  readonly #byValue = new Map<string, Map<string, Bits>>();
  readonly #byKey = new Map<string, Bits>();
  readonly #byNetwork = new Map<string, Bits>();
  readonly #byGroup = new Map<number, Bits>();
  readonly #ofRule = new WeakMap<RuleCode, Bits>();
  readonly #ofSubject = new WeakMap<PolicyCode, Bits>();

  constructor(projection: Projection, classes: readonly EndpointClass[]) {
    this.projection = projection;
    this.classes = classes;
    this.#indexOf = new Map(classes.map(({ signature }, index) => [signature, index]));
    this.#everyone = emptyBits(classes.length);
    this.#peers = emptyBits(classes.length);
    for (const { key } of projection.labels) {
      this.#byKey.set(key, emptyBits(classes.length));
      this.#byValue.set(key, new Map());
    }
    for (const [index, one] of classes.entries()) this.#place(one, index);
  }

  indexOf(signature: string): number | undefined {
    return this.#indexOf.get(signature);
  }

  /** The same space with more classes behind those there are, which keep their index. */
  withMore(classes: readonly EndpointClass[]): ClassSpace {
    return new ClassSpace(this.projection, [...this.classes, ...classes]);
  }

  /** Whether an index of that space means the same class here. */
  continues(space: ClassSpace): boolean {
    return (
      this === space ||
      (this.projection === space.projection &&
        this.classes.length >= space.classes.length &&
        space.classes.every((one, index) => one === this.classes[index]))
    );
  }

  /** The classes a policy is about: peers of its network that its selector matches. */
  subjectsOf(policy: PolicyCode): Bits {
    let bits = this.#ofSubject.get(policy);
    if (bits === undefined) {
      bits = this.select(policy.subject);
      if (policy.network !== undefined) andInto(bits, this.#byNetwork.get(policy.network) ?? this.#none());
      this.#ofSubject.set(policy, bits);
    }
    return bits;
  }

  /** The classes that a rule's `from` or `to` means. */
  othersOf(rule: RuleCode): Bits {
    if (rule.anyone) return this.#everyone;
    let bits = this.#ofRule.get(rule);
    if (bits === undefined) {
      bits = this.#none();
      for (const selector of rule.selectors) orInto(bits, this.select(selector));
      for (const block of rule.blocks) this.#addBlock(bits, block);
      this.#ofRule.set(rule, bits);
    }
    return bits;
  }

  /** A selector never matches externals. NotIn matches where the key is absent. */
  select({ peers, notPeers, matchLabels, matchExpressions }: Selector): Bits {
    const bits = this.#peers.slice();
    if (peers) andInto(bits, this.#listed(peers));
    if (notPeers) andNotInto(bits, this.#listed(notPeers));
    for (const [key, value] of Object.entries(matchLabels ?? {})) andInto(bits, this.#withValues(key, [value]));
    for (const { key, operator, values } of matchExpressions ?? []) {
      switch (operator) {
        case 'In':
          andInto(bits, this.#withValues(key, values ?? []));
          break;
        case 'NotIn':
          andNotInto(bits, this.#withValues(key, values ?? []));
          break;
        case 'Exists':
          andInto(bits, this.#byKey.get(key) ?? this.#none());
          break;
        case 'DoesNotExist':
          andNotInto(bits, this.#byKey.get(key) ?? this.#none());
          break;
        default:
          operator satisfies never;
      }
    }
    return bits;
  }

  #place(one: EndpointClass, index: number): void {
    setBit(this.#everyone, index);
    if (one.network === undefined) return;
    setBit(this.#peers, index);
    setBit(
      entryOf(this.#byNetwork, one.network, () => this.#none()),
      index,
    );
    if (one.group !== undefined) {
      setBit(
        entryOf(this.#byGroup, one.group, () => this.#none()),
        index,
      );
    }
    for (const { key } of this.projection.labels) {
      const value = Object.hasOwn(one.labels, key) ? one.labels[key] : undefined;
      if (value === undefined) continue;
      setBit(
        entryOf(this.#byKey, key, () => this.#none()),
        index,
      );
      const values = entryOf(this.#byValue, key, () => new Map<string, Bits>());
      setBit(
        entryOf(values, value, () => this.#none()),
        index,
      );
    }
  }

  #listed(ids: readonly string[]): Bits {
    const bits = this.#none();
    for (const group of new Set(ids.map((id) => this.projection.groups.get(id)))) {
      const some = group === undefined ? undefined : this.#byGroup.get(group);
      if (some) orInto(bits, some);
    }
    return bits;
  }

  #withValues(key: string, values: readonly string[]): Bits {
    const bits = this.#none();
    for (const value of values) {
      const some = this.#byValue.get(key)?.get(value);
      if (some) orInto(bits, some);
    }
    return bits;
  }

  #addBlock(bits: Bits, { cidr, except }: BlockCode): void {
    const inside = atomsOf(cidr, this.projection.edges);
    const holes = except.map((range) => atomsOf(range, this.projection.edges));
    for (const [index, { address }] of this.classes.entries()) {
      if (address === undefined || address.from < inside.from || address.to > inside.to) continue;
      if (!holes.some((hole) => hole.from <= address.to && address.from <= hole.to)) setBit(bits, index);
    }
  }

  #none(): Bits {
    return emptyBits(this.classes.length);
  }
}

/** IPv6 lies above IPv4 on one axis. */
const IPV6_OFFSET = 1n << 40n;

function onLine({ family }: IpRange, address: bigint): bigint {
  return family === 4 ? address : address + IPV6_OFFSET;
}

function atomsOf(range: IpRange, edges: readonly bigint[]): { from: number; to: number } {
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
  const known = entryOf(labels, key, () => new Map<string, number>());
  for (const value of values) known.set(value, 0);
}

function entryOf<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
