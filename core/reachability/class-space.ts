import { getOrInsertComputed } from '../base/get-or-insert.ts';
import type { Selector } from '../model/policy.ts';
import { andInto, andNotInto, type Bits, emptyBits, orInto, setBit } from './bits.ts';
import type { EndpointClass } from './endpoint-class.ts';
import type { BlockCode, PolicyCode, RuleCode } from './program.ts';
import { atomsOf, type Projection } from './projection.ts';

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

  /** Returns true if every index of that space means the same class here. */
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
    this.#add(this.#byNetwork, one.network, index);
    if (one.group !== undefined) this.#add(this.#byGroup, one.group, index);
    for (const { key } of this.projection.labels) {
      const value = Object.hasOwn(one.labels, key) ? one.labels[key] : undefined;
      if (value === undefined) continue;
      this.#add(this.#byKey, key, index);
      const values = getOrInsertComputed(this.#byValue, key, () => new Map<string, Bits>());
      this.#add(values, value, index);
    }
  }

  #add<K>(sets: Map<K, Bits>, key: K, index: number): void {
    const bits = getOrInsertComputed(sets, key, () => this.#none());
    setBit(bits, index);
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
