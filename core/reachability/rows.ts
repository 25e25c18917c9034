import { type Bits, eachBit } from './bits.ts';
import type { ClassSpace } from './class-space.ts';
import type { Direction, NetworkInput } from './model.ts';
import { ALL_PORTS, NO_PORTS, type PortSetId, type PortSets } from './port-sets.ts';
import type { PolicyCode, RuleCode } from './program.ts';

/** For one subject and direction: the ports allowed with each class. */
export type Row = Uint32Array;

/** Rows by what they follow from; shared by every state with the same classes, so an edit recomputes only what it touches. */
export type RowCache = Map<string, Row>;

/** The rows of one set of policies over a {@link ClassSpace}, each computed when first asked for. */
export class RowTable {
  readonly #space: ClassSpace;
  readonly #ports: PortSets;
  readonly #cache: RowCache;
  readonly #policies: readonly PolicyCode[];
  readonly #defaults: ReadonlyMap<string, PortSetId>;
  readonly #selecting: readonly (readonly number[])[];
  readonly #egress: (Row | undefined)[];
  readonly #ingress: (Row | undefined)[];
  readonly #common: ReadonlySet<PolicyCode>;
  readonly #bases = new Map<string, Sums>();
  readonly #near: (readonly number[] | undefined)[] = [];

  constructor(
    space: ClassSpace,
    ports: PortSets,
    cache: RowCache,
    policies: readonly PolicyCode[],
    networks: readonly NetworkInput[],
  ) {
    this.#space = space;
    this.#ports = ports;
    this.#cache = cache;
    this.#policies = policies;
    this.#defaults = new Map(networks.map((n) => [n.name, n.defaultAction === 'ALLOW' ? ALL_PORTS : NO_PORTS]));
    this.#selecting = policiesByClass(space, policies);
    this.#egress = new Array(space.classes.length);
    this.#ingress = new Array(space.classes.length);
    this.#common = commonPolicies(policies, this.#selecting);
  }

  row(direction: Direction, subject: number): Row {
    const rows = direction === 'egress' ? this.#egress : this.#ingress;
    let row = rows[subject];
    if (row === undefined) {
      row = this.#shared(direction, subject);
      rows[subject] = row;
    }
    return row;
  }

  /** Returns true if the row has been computed. */
  has(direction: Direction, subject: number): boolean {
    return (direction === 'egress' ? this.#egress : this.#ingress)[subject] !== undefined;
  }

  /** Returns true if policies let one class open anything at another. Externals have none and do not reach each other. */
  opens(from: number, to: number): boolean {
    const [src, dst] = [this.#space.classes[from]?.network, this.#space.classes[to]?.network];
    if (src === undefined && dst === undefined) return false;
    if (src !== undefined && dst !== undefined && src !== dst) return false;
    const out = src === undefined ? ALL_PORTS : (this.row('egress', from)[to] ?? NO_PORTS);
    if (out === NO_PORTS || dst === undefined) return out !== NO_PORTS;
    return this.#ports.intersects(out, this.row('ingress', to)[from] ?? NO_PORTS);
  }

  /** The classes with which a class has some allowed traffic in either direction. */
  near(subject: number): readonly number[] {
    let near = this.#near[subject];
    if (near === undefined) {
      near = [...this.#space.classes.keys()].filter(
        (other) => this.opens(subject, other) || this.opens(other, subject),
      );
      this.#near[subject] = near;
    }
    return near;
  }

  /** Which policies select the class, by their place in the list given. */
  selecting(subject: number): readonly number[] {
    return this.#selecting[subject] ?? [];
  }

  /** Returns what remains where no policy of the direction selects the class. An unknown network allows nothing. */
  defaultOf(subject: number): PortSetId {
    const network = this.#space.classes[subject]?.network;
    return network === undefined ? ALL_PORTS : (this.#defaults.get(network) ?? NO_PORTS);
  }

  /** Returns what remains of a direction where no rule applies: nothing for a class that is isolated, else the default. */
  fallbackOf(direction: Direction, subject: number): PortSetId {
    for (const index of this.selecting(subject)) {
      const policy = this.#policies[index];
      if (policy?.isolates[direction]) return NO_PORTS;
    }
    return this.defaultOf(subject);
  }

  /** A policy without rules only isolates, and isolation of what is isolated changes nothing: such rows are one. */
  #shared(direction: Direction, subject: number): Row {
    const policies: PolicyCode[] = [];
    let isolated = false;
    for (const index of this.selecting(subject)) {
      const policy = this.#policies[index];
      if (policy === undefined) continue;
      if (policy.isolates[direction]) isolated = true;
      if (policy[direction]?.length) policies.push(policy);
    }
    const fallback = isolated ? NO_PORTS : this.defaultOf(subject);
    const ids = policies.map(({ id }) => id).sort((a, b) => a - b);
    const key = `${direction}|${fallback}|${ids.join()}`;
    let row = this.#cache.get(key);
    if (row === undefined) {
      row = this.#compute(direction, policies, fallback);
      this.#cache.set(key, row);
    }
    return row;
  }

  /** docs/policy.md#precedence: a DENY rule wins, else an ALLOW rule, else isolation, else the default. */
  #compute(direction: Direction, policies: readonly PolicyCode[], fallback: PortSetId): Row {
    const base = this.#baseOf(
      direction,
      policies.filter((policy) => this.#common.has(policy)),
    );
    const sums = { allowed: base.allowed.slice(), denied: base.denied.slice() };
    for (const policy of policies) if (!this.#common.has(policy)) this.#add(sums, direction, policy);
    const { allowed, denied } = sums;
    // Where a policy allows something nothing is left by default.
    const row = fallback === NO_PORTS ? allowed : allowed.fill(fallback);
    for (let other = 0; other < row.length; other++) {
      const refused = denied[other] ?? NO_PORTS;
      if (refused !== NO_PORTS) row[other] = this.#ports.minus(row[other] ?? NO_PORTS, refused);
    }
    return row;
  }

  /** The sums of the policies that select many classes, which most rows begin with. */
  #baseOf(direction: Direction, common: readonly PolicyCode[]): Sums {
    const key = `${direction}|${common.map(({ id }) => id).join()}`;
    let base = this.#bases.get(key);
    if (base === undefined) {
      const size = this.#space.classes.length;
      base = { allowed: new Uint32Array(size), denied: new Uint32Array(size) };
      for (const policy of common) this.#add(base, direction, policy);
      this.#bases.set(key, base);
    }
    return base;
  }

  #add(sums: Sums, direction: Direction, policy: PolicyCode): void {
    const target = policy.allow ? sums.allowed : sums.denied;
    for (const rule of policy[direction] ?? []) {
      addPorts(target, this.#space.othersOf(rule), rule.ports, this.#ports);
    }
  }
}

/** Sums of the policies of a row, before DENY is subtracted from ALLOW. */
interface Sums {
  readonly allowed: Row;
  readonly denied: Row;
}

/** A policy that selects at least this share of the classes is summed once for all rows that it is part of. */
const COMMON_SHARE = 1 / 4;

function commonPolicies(
  policies: readonly PolicyCode[],
  selecting: readonly (readonly number[])[],
): ReadonlySet<PolicyCode> {
  const counts = new Uint32Array(policies.length);
  for (const indexes of selecting) for (const index of indexes) counts[index] = (counts[index] ?? 0) + 1;
  return new Set(policies.filter((_, index) => (counts[index] ?? 0) >= selecting.length * COMMON_SHARE));
}

function policiesByClass(space: ClassSpace, policies: readonly PolicyCode[]): number[][] {
  const result = space.classes.map((): number[] => []);
  for (const [index, policy] of policies.entries()) {
    eachBit(space.subjectsOf(policy), (subject) => result[subject]?.push(index));
  }
  return result;
}

function addPorts(row: Row, others: Bits, added: PortSetId, ports: PortSets): void {
  eachBit(others, (other) => {
    row[other] = ports.union(row[other] ?? NO_PORTS, added);
  });
}

/** Returns the ports that the rules of a root agent's `reach` open towards each class. */
export function reachRow(rules: readonly RuleCode[], space: ClassSpace, ports: PortSets): Row {
  const row: Row = new Uint32Array(space.classes.length);
  for (const rule of rules) addPorts(row, space.othersOf(rule), rule.ports, ports);
  return row;
}
