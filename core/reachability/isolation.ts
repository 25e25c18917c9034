import type { Ranges } from '../model/ranges.ts';
import { union } from '../model/ranges.ts';
import { hasBit } from './bits.ts';
import { blocksAt, withExternals } from './externals.ts';
import type { Direction } from './model.ts';
import { externalOf, networksOf, stretchesOf } from './outside.ts';
import { type AllowedPorts, NO_PORTS } from './port-sets.ts';
import type { ActivePolicy } from './program.ts';
import { rangeNames } from './range-names.ts';
import type { Reachability } from './reachability.ts';

/** Peers that may connect by a policy that opens an isolated peer, computed from open pairs and not from selectors. */
export interface Opening {
  readonly policy: string;
  readonly peers: readonly string[];
  /** Addresses outside: CIDRs, or `outside` for all; undefined where policies tell too many apart. */
  readonly addresses: readonly string[] | undefined;
}

/** A policy that leaves the other end some ports of one direction. */
export interface Admission {
  readonly policy: string;
  readonly allowed: AllowedPorts;
}

/** Which policies close one direction of a peer for all that no other policy opens, and which open it. */
export interface Isolation {
  readonly closing: readonly string[];
  readonly opening: readonly Opening[];
  /** Ports that this direction alone leaves open to the other end, by policy; empty where that is no endpoint. */
  readonly admits: readonly Admission[];
}

/** Undefined for a peer that is not there. */
export function isolationOf(
  reach: Reachability,
  direction: Direction,
  { subject, other }: { readonly subject: string; readonly other: string },
): Isolation | undefined {
  const { endpoints, table, policies, space, ports } = reach.parts;
  const [place, otherPlace] = [reach.placeOf(subject), reach.placeOf(other)];
  const [self, end] = [place, otherPlace].map((at) => (at === undefined ? undefined : endpoints[at]));
  if (place === undefined || !self) return undefined;
  const isolating = table
    .selecting(self.classIndex)
    .flatMap((index) => policies[index] ?? [])
    .filter(({ code }) => code.isolates[direction]);
  const openers = isolating.filter(({ code }) => code.allow && (code[direction] ?? []).length > 0);
  const closing = isolating.filter((policy) => !openers.includes(policy));
  const denying = closing.filter(({ code }) => !code.allow);
  const granted = (end && table.row(direction, self.classIndex)[end.classIndex]) ?? NO_PORTS;
  const admits = openers.flatMap(({ name, code }): Admission[] => {
    const own = (code[direction] ?? [])
      .filter((rule) => end && hasBit(space.othersOf(rule), end.classIndex))
      .reduce((open, rule) => ports.union(open, rule.ports), NO_PORTS);
    const left = ports.meet(own, granted);
    return left === NO_PORTS ? [] : [{ policy: name, allowed: ports.describe(left) }];
  });
  return {
    closing: (denying.length > 0 ? denying : closing).map(({ name }) => name),
    opening: openingsOf(reach, direction, subject, openers),
    admits,
  };
}

/** Computed from the pairs that are open: an end that is revoked, elsewhere or denied by another policy is let in by none. */
function openingsOf(
  reach: Reachability,
  direction: Direction,
  subject: string,
  openers: readonly ActivePolicy[],
): Opening[] {
  const place = reach.placeOf(subject);
  if (place === undefined || openers.length === 0) return [];
  const blocks = [...blocksAt(reach, [place])];
  const inside = networksOf(reach);
  const stretches = stretchesOf(blocks, inside);
  const externals = (stretches ?? []).map(externalOf);
  const all = externals.length === 0 ? reach : withExternals(reach, externals);
  const { endpoints, space, ports } = all.parts;
  const rangesOf = new Map<number, Ranges>();
  for (const [index, { name }] of externals.entries()) {
    const at = all.placeOf(name);
    if (at !== undefined) rangesOf.set(at, stretches?.[index] ?? []);
  }
  const self = all.placeOf(subject) ?? place;
  const open = all.around(self).flatMap((at) => {
    const set = direction === 'egress' ? all.pair(self, at) : all.pair(at, self);
    return set === NO_PORTS ? [] : [{ at, set, classIndex: endpoints[at]?.classIndex ?? -1 }];
  });
  return openers.map(({ name, code }): Opening => {
    const rules = (code[direction] ?? []).map((rule) => ({ ports: rule.ports, others: space.othersOf(rule) }));
    const own = open.filter(({ set, classIndex }) =>
      rules.some((rule) => hasBit(rule.others, classIndex) && ports.meet(rule.ports, set) !== NO_PORTS),
    );
    const ranges = own.flatMap(({ at }) => rangesOf.get(at) ?? []);
    return {
      policy: name,
      peers: own.filter(({ at }) => !endpoints[at]?.external).map(({ at }) => all.nameOf(at)),
      addresses: stretches && (ranges.length === 0 ? [] : rangeNames(union(ranges), inside, blocks)),
    };
  });
}
