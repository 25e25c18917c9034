import { type Bits, eachBit, orInto } from './bits.ts';
import type { ClassSpace } from './classes.ts';
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
  readonly #rows: Readonly<Record<Direction, (Row | undefined)[]>>;

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
    this.#rows = { egress: new Array(space.classes.length), ingress: new Array(space.classes.length) };
  }

  row(direction: Direction, subject: number): Row {
    const rows = this.#rows[direction];
    let row = rows[subject];
    if (row === undefined) {
      row = this.#shared(direction, subject);
      rows[subject] = row;
    }
    return row;
  }

  /** Which policies select the class, by their place in the list given. */
  selecting(subject: number): readonly number[] {
    return this.#selecting[subject] ?? [];
  }

  /** What remains where no policy of the direction selects the class. A network that is not known allows nothing. */
  defaultOf(subject: number): PortSetId {
    const network = this.#space.classes[subject]?.network;
    return network === undefined ? ALL_PORTS : (this.#defaults.get(network) ?? NO_PORTS);
  }

  #shared(direction: Direction, subject: number): Row {
    const policies = this.selecting(subject)
      .flatMap((index) => this.#policies[index] ?? [])
      .filter((policy) => policy[direction] !== undefined);
    const byDefault = this.defaultOf(subject);
    const ids = policies.map(({ id }) => id).sort((a, b) => a - b);
    const key = `${direction}|${byDefault}|${ids.join()}`;
    let row = this.#cache.get(key);
    if (row === undefined) {
      row = this.#compute(direction, policies, byDefault);
      this.#cache.set(key, row);
    }
    return row;
  }

  /** DESIGN 5.2: a DENY rule wins, else an ALLOW rule, else isolation, else the default. */
  #compute(direction: Direction, policies: readonly PolicyCode[], byDefault: PortSetId): Row {
    const allowed = new Map<PortSetId, Bits>();
    const denied = new Map<PortSetId, Bits>();
    let isolated = false;
    for (const policy of policies) {
      const rules = policy[direction] ?? [];
      if (policy.allow || rules.length === 0) isolated = true;
      for (const rule of rules) addTo(policy.allow ? allowed : denied, rule.ports, this.#space.othersOf(rule));
    }
    const row: Row = new Uint32Array(this.#space.classes.length).fill(isolated ? NO_PORTS : byDefault);
    for (const [ports, bits] of allowed) {
      eachBit(bits, (other) => {
        row[other] = this.#ports.union(row[other] ?? NO_PORTS, ports);
      });
    }
    for (const [ports, bits] of denied) {
      eachBit(bits, (other) => {
        row[other] = this.#ports.minus(row[other] ?? NO_PORTS, ports);
      });
    }
    return row;
  }
}

function policiesByClass(space: ClassSpace, policies: readonly PolicyCode[]): number[][] {
  const result = space.classes.map((): number[] => []);
  for (const [index, policy] of policies.entries()) {
    eachBit(space.subjectsOf(policy), (subject) => result[subject]?.push(index));
  }
  return result;
}

function addTo(sets: Map<PortSetId, Bits>, ports: PortSetId, bits: Bits): void {
  const known = sets.get(ports);
  if (known) orInto(known, bits);
  else sets.set(ports, bits.slice());
}

/** What the rules of a root agent's `reach` open towards each class. */
export function reachRow(rules: readonly RuleCode[], space: ClassSpace, ports: PortSets): Row {
  const row: Row = new Uint32Array(space.classes.length);
  for (const rule of rules) {
    eachBit(space.othersOf(rule), (other) => {
      row[other] = ports.union(row[other] ?? NO_PORTS, rule.ports);
    });
  }
  return row;
}
