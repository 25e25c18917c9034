import { getOrInsertComputed } from '../base/get-or-insert.ts';
import type { Protocol } from '../model/policy.ts';
import type { ClassSpace } from './class-space.ts';
import type { Bounds, Endpoint, Endpoints } from './endpoints.ts';
import type { NetworkModel } from './model.ts';
import { ALL_PORTS, type AllowedPorts, NO_PORTS, type PortSetId, type PortSets, pointOf } from './port-sets.ts';
import type { ActivePolicy, RuleCode } from './program.ts';
import { type Row, type RowTable, reachRow } from './rows.ts';
import { ancestorsOf, buildUnits, type Unit } from './units.ts';

/** Connections that one endpoint may open, and that others may open to it. */
export interface Neighbourhood {
  readonly outbound: readonly { readonly name: string; readonly allowed: AllowedPorts }[];
  readonly inbound: readonly { readonly name: string; readonly allowed: AllowedPorts }[];
}

export interface Parts {
  /** Made when it is first asked for: most states are never explained. */
  readonly model: () => NetworkModel;
  readonly now: number;
  readonly policies: readonly ActivePolicy[];
  readonly space: ClassSpace;
  readonly ports: PortSets;
  readonly table: RowTable;
  readonly endpoints: Endpoints;
  /** The place that each name has had in any of a row of states; an empty place is a peer that is not there. */
  readonly places: Map<string, number>;
  readonly bounds: Bounds;
  /** Places that are taken. */
  readonly live: number;
}

/** Delegation is at most 4 deep; a longer chain is a cycle and opens nothing. */
const MAX_BOUND_DEPTH = 16;

/**
 * Computes who may open a connection to whom, for one {@link NetworkModel}. Rows are computed when first asked for. Pairs are
 * ordered: `src` opens, replies follow. Presence plays no part.
 */
export class Reachability {
  readonly parts: Parts;
  readonly #reachRows = new Map<string, Row>();
  #units: readonly Unit[] | undefined;
  #members: readonly (readonly number[])[] | undefined;
  #heirs: ReadonlyMap<number, readonly number[]> | undefined;
  #model: NetworkModel | undefined;

  constructor(parts: Parts, members?: readonly (readonly number[])[]) {
    this.parts = parts;
    this.#members = members;
  }

  get model(): NetworkModel {
    this.#model ??= this.parts.model();
    return this.#model;
  }

  /** Returns true if `src` may open this port of `dst`. False for an unknown name, or TCP, UDP or SCTP without a port. */
  verdict(src: string, dst: string, protocol: Protocol, port?: number): boolean {
    const s = this.placeOf(src);
    const d = this.placeOf(dst);
    if (s === undefined || d === undefined) return false;
    return this.#opens(s, d, pointOf(protocol, port), 0);
  }

  /** Everything `src` may open at `dst`; empty when nothing. */
  allowed(src: string, dst: string): AllowedPorts {
    const s = this.placeOf(src);
    const d = this.placeOf(dst);
    return s === undefined || d === undefined ? [] : this.parts.ports.describe(this.pair(s, d));
  }

  /** Returns what one peer or external may open and what others may open to it. */
  neighbourhood(name: string): Neighbourhood {
    const self = this.placeOf(name);
    const outbound: { name: string; allowed: AllowedPorts }[] = [];
    const inbound: { name: string; allowed: AllowedPorts }[] = [];
    for (const other of this.around(self)) {
      const place = self ?? other;
      const out = this.pair(place, other);
      const into = this.pair(other, place);
      if (out !== NO_PORTS) outbound.push({ name: this.nameOf(other), allowed: this.parts.ports.describe(out) });
      if (into !== NO_PORTS) inbound.push({ name: this.nameOf(other), allowed: this.parts.ports.describe(into) });
    }
    return { outbound, inbound };
  }

  /** The peers with which some traffic is allowed in either direction, in the order of the model. */
  neighbours(name: string): string[] {
    const self = this.placeOf(name);
    return this.around(self)
      .filter((other) => {
        if (self === undefined || this.parts.endpoints[other]?.external) return false;
        return this.pair(self, other) !== NO_PORTS || this.pair(other, self) !== NO_PORTS;
      })
      .map((other) => this.nameOf(other));
  }

  /** Tells whether a peer may reach any other peer (`out`), or be reached by one (`in`). */
  isConnected(name: string, direction: 'in' | 'out'): boolean {
    const self = this.placeOf(name);
    return this.around(self).some((other) => {
      if (self === undefined || this.parts.endpoints[other]?.external) return false;
      return (direction === 'in' ? this.pair(other, self) : this.pair(self, other)) !== NO_PORTS;
    });
  }

  /** The places with which policies leave a place some traffic, in their order; a bound may still forbid it. */
  around(self: number | undefined): number[] {
    const endpoint = self === undefined ? undefined : this.parts.endpoints[self];
    if (endpoint === undefined || endpoint.dead !== undefined) return [];
    const members = this.members();
    return this.parts.table
      .near(endpoint.classIndex)
      .flatMap((index) => members[index] ?? [])
      .filter((other) => other !== self)
      .sort((a, b) => a - b);
  }

  /** The places of each class. */
  members(): readonly (readonly number[])[] {
    if (this.#members === undefined) {
      const members = this.parts.space.classes.map((): number[] => []);
      for (const [place, endpoint] of this.parts.endpoints.entries()) {
        if (endpoint) members[endpoint.classIndex]?.push(place);
      }
      this.#members = members;
    }
    return this.#members;
  }

  /** The places that are bound by what a place may open. */
  heirsOf(place: number): readonly number[] {
    if (this.#heirs === undefined) {
      const heirs = new Map<number, number[]>();
      for (const name of this.parts.bounds.ofPeer.keys()) {
        const heir = this.placeOf(name);
        if (heir === undefined) continue;
        for (const ancestor of ancestorsOf(this.parts.endpoints, heir)) {
          getOrInsertComputed(heirs, ancestor, () => []).push(heir);
        }
      }
      this.#heirs = heirs;
    }
    return this.#heirs.get(place) ?? [];
  }

  /** The next instant at which time alone changes the answer: a policy or a peer expires. */
  nextChangeAt(): number | undefined {
    const { policies } = this.parts;
    const { model } = this;
    const instants = [
      ...policies.map(({ code }) => code.expiresAt),
      ...model.peers.map((peer) => peer.expiresAt ?? Number.NaN),
    ];
    const next = instants.filter((at) => at > model.now).reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    return next === Number.POSITIVE_INFINITY ? undefined : next;
  }

  /** Computes every row now, so that later answers are look-ups alone. */
  prepare(): this {
    for (let index = 0; index < this.parts.space.classes.length; index++) {
      this.parts.table.row('egress', index);
      this.parts.table.row('ingress', index);
    }
    return this;
  }

  /** The place of a name in `peers ++ externals`. */
  placeOf(name: string): number | undefined {
    const place = this.parts.places.get(name);
    return place === undefined || this.parts.endpoints[place] === undefined ? undefined : place;
  }

  /** The ports of one ordered pair of places. */
  pair(src: number, dst: number, depth = 0): PortSetId {
    const from = this.parts.endpoints[src];
    const to = this.parts.endpoints[dst];
    if (from === undefined || to === undefined || from.dead !== undefined || to.dead !== undefined) return NO_PORTS;
    if (src === dst) return ALL_PORTS;
    const set = this.#byPolicy(from, to);
    if (set === NO_PORTS || from.bound === undefined) return set;
    return this.parts.ports.meet(set, this.boundOn(from, dst, to, depth));
  }

  /** Returns what policies of `src` let it send to `dst`, by places; policies of `dst` are not considered. */
  egress(src: number, dst: number): PortSetId {
    const [from, to] = this.#living(src, dst);
    return from && to ? this.#egressOf(from, to) : NO_PORTS;
  }

  /** Returns what policies of `dst` admit from `src`, by places. */
  ingress(src: number, dst: number): PortSetId {
    const [from, to] = this.#living(src, dst);
    return from && to ? this.#ingressOf(from, to) : NO_PORTS;
  }

  /** The most the delegation bound leaves `from` towards `dst`. */
  boundOn({ bound }: Endpoint, dst: number, to: Endpoint, depth = 0): PortSetId {
    if (bound === undefined) return ALL_PORTS;
    if ('id' in bound) return this.#reachRow(bound.id, bound.rules)[to.classIndex] ?? NO_PORTS;
    if (bound.ancestor === undefined || depth >= MAX_BOUND_DEPTH) return NO_PORTS;
    return this.pair(bound.ancestor, dst, depth + 1);
  }

  /** Endpoints grouped by what policies can tell apart. */
  units(): readonly Unit[] {
    this.#units ??= buildUnits(this.parts.endpoints);
    return this.#units;
  }

  /** The units that one may reach at all: externals never reach externals. */
  unitsTowards(from: Unit): readonly Unit[] {
    const units = this.units();
    return from.external ? units.filter(({ external }) => !external) : units;
  }

  /** The ports between two different members of the units of which neither is an ancestor of the other. */
  unitPair(from: Unit, to: Unit): PortSetId {
    return this.#strangers(from.members[0] ?? 0, to.members[0] ?? 0, 0);
  }

  /** As {@link pair} for one point, without keeping what the sets share. */
  #opens(src: number, dst: number, point: number, depth: number): boolean {
    const from = this.parts.endpoints[src];
    const to = this.parts.endpoints[dst];
    if (from === undefined || to === undefined || from.dead !== undefined || to.dead !== undefined) return false;
    const { ports } = this.parts;
    if (src === dst) return ports.has(ALL_PORTS, point);
    if (!ports.has(this.#egressOf(from, to), point) || !ports.has(this.#ingressOf(from, to), point)) return false;
    if (from.bound === undefined) return true;
    if ('id' in from.bound) return ports.has(this.boundOn(from, dst, to), point);
    if (from.bound.ancestor === undefined || depth >= MAX_BOUND_DEPTH) return false;
    return this.#opens(from.bound.ancestor, dst, point, depth + 1);
  }

  #living(src: number, dst: number): readonly [Endpoint | undefined, Endpoint | undefined] {
    const from = this.parts.endpoints[src];
    const to = this.parts.endpoints[dst];
    return [from?.dead === undefined ? from : undefined, to?.dead === undefined ? to : undefined];
  }

  /** As {@link pair}, for a `dst` that only stands for its class: it is neither `src` nor an ancestor of it. */
  #strangers(src: number, dst: number, depth: number): PortSetId {
    const from = this.parts.endpoints[src];
    const to = this.parts.endpoints[dst];
    if (from === undefined || to === undefined || from.dead !== undefined || to.dead !== undefined) return NO_PORTS;
    const set = this.#byPolicy(from, to);
    if (set === NO_PORTS || from.bound === undefined) return set;
    const { bound } = from;
    if ('id' in bound) return this.parts.ports.meet(set, this.boundOn(from, dst, to));
    if (bound.ancestor === undefined || depth >= MAX_BOUND_DEPTH) return NO_PORTS;
    return this.parts.ports.meet(set, this.#strangers(bound.ancestor, dst, depth + 1));
  }

  /** The half that costs no new row is looked at first: where it allows nothing the other is not needed. */
  #byPolicy(from: Endpoint, to: Endpoint): PortSetId {
    const { ports, table } = this.parts;
    if (!from.external && table.has('egress', from.classIndex)) {
      const out = this.#egressOf(from, to);
      return out === NO_PORTS ? NO_PORTS : ports.meet(out, this.#ingressOf(from, to));
    }
    const into = this.#ingressOf(from, to);
    return into === NO_PORTS ? NO_PORTS : ports.meet(this.#egressOf(from, to), into);
  }

  /** Returns what `from` may send, by its network and policies; an external has none. */
  #egressOf(from: Endpoint, to: Endpoint): PortSetId {
    if (from.external) return to.external ? NO_PORTS : ALL_PORTS;
    if (!to.external && from.network !== to.network) return NO_PORTS;
    return this.parts.table.row('egress', from.classIndex)[to.classIndex] ?? NO_PORTS;
  }

  /** Returns what `to` may receive, by its policies; an external has none. */
  #ingressOf(from: Endpoint, to: Endpoint): PortSetId {
    if (to.external) return ALL_PORTS;
    return this.parts.table.row('ingress', to.classIndex)[from.classIndex] ?? NO_PORTS;
  }

  #reachRow(id: string, rules: readonly RuleCode[]): Row {
    let row = this.#reachRows.get(id);
    if (row === undefined) {
      row = reachRow(rules, this.parts.space, this.parts.ports);
      this.#reachRows.set(id, row);
    }
    return row;
  }

  /** Empty for a place where nobody is. */
  nameOf(place: number): string {
    return this.parts.endpoints[place]?.name ?? '';
  }
}
