import { hasBit } from './bits.ts';
import type { Direction } from './model.ts';
import { type Allowed, NO_PORTS } from './port-sets.ts';
import type { BlockCode } from './program.ts';
import type { Reachability } from './reachability.ts';

/** A policy that opens an isolated peer to others. */
export interface Opening {
  readonly policy: string;
  readonly isAnyone: boolean;
  readonly peers: readonly string[];
  readonly blocks: readonly BlockCode[];
}

/** Which policies close one direction of a peer for all that no other policy opens, and which open it. */
export interface Isolation {
  readonly closing: readonly string[];
  readonly opening: readonly Opening[];
  /** What this direction alone leaves with the other end; nothing where that is no endpoint. */
  readonly admits: Allowed;
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
  if (!self) return undefined;
  const members = reach.members();
  const isolating = table
    .selecting(self.classIndex)
    .flatMap((index) => policies[index] ?? [])
    .filter(({ code }) => code.isolates[direction]);
  const opening = isolating.flatMap(({ name, code }): Opening[] => {
    const rules = (code.allow && code[direction]) || [];
    if (rules.length === 0) return [];
    const isMeant = (index: number) => rules.some((rule) => hasBit(space.othersOf(rule), index));
    const places = members.flatMap((some, index) => (isMeant(index) ? some : []));
    const peers = places.filter((at) => at !== place && !endpoints[at]?.external).map((at) => reach.nameOf(at));
    return [
      {
        policy: name,
        isAnyone: rules.some(({ anyone }) => anyone),
        peers,
        blocks: rules.flatMap(({ blocks }) => blocks),
      },
    ];
  });
  const openers = new Set(opening.map(({ policy }) => policy));
  const closing = isolating.filter(({ name }) => !openers.has(name));
  const denying = closing.filter(({ code }) => !code.allow);
  const granted = end && table.row(direction, self.classIndex)[end.classIndex];
  const admits = ports.describe(granted ?? NO_PORTS);
  return { closing: (denying.length > 0 ? denying : closing).map(({ name }) => name), opening, admits };
}
