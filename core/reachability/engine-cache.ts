import { ClassSpace } from './class-space.ts';
import type { EndpointClass } from './endpoint-class.ts';
import { PortSets } from './port-sets.ts';
import { PolicyCodes } from './program.ts';
import type { Projection } from './projection.ts';
import type { RowCache } from './rows.ts';

/** Class spaces kept: a state, the one before it, and a few of a search through history. */
const MAX_SPACES = 8;
/** Rows kept for a space, beyond one a class and direction. */
const SPARE_ROWS = 1_000;
/** Interned policies at which everything kept is dropped. */
const MAX_POLICIES = 500_000;

interface CachedSpace {
  readonly space: ClassSpace;
  readonly rows: RowCache;
}

/** Data that consecutive models share. */
export interface EngineCache {
  readonly ports: PortSets;
  readonly codes: PolicyCodes;
  /** The one used last comes first. */
  readonly spaces: CachedSpace[];
}

export function emptyCache(): EngineCache {
  const ports = new PortSets();
  return { ports, codes: new PolicyCodes(ports), spaces: [] };
}

export function isFull({ ports, codes }: EngineCache): boolean {
  return ports.isFull || codes.size > MAX_POLICIES;
}

/** A space in which all these classes are told apart. */
export function spaceFor(
  { spaces }: EngineCache,
  projection: Projection,
  classes: readonly EndpointClass[],
): CachedSpace {
  const known = spaces.find(
    ({ space }) =>
      space.projection.key === projection.key &&
      classes.every(({ signature }) => space.indexOf(signature) !== undefined),
  );
  return used(spaces, known ?? { space: new ClassSpace(projection, distinct(classes)), rows: new Map() });
}

/** A space that has more classes than another, which keep their index in it. */
export function spaceWith({ spaces }: EngineCache, before: ClassSpace, classes: readonly EndpointClass[]): CachedSpace {
  const added = distinct(classes).filter(({ signature }) => before.indexOf(signature) === undefined);
  const known = spaces.find(({ space }) =>
    added.length === 0
      ? space === before
      : space.continues(before) && added.every(({ signature }) => space.indexOf(signature) !== undefined),
  );
  return used(spaces, known ?? { space: added.length === 0 ? before : before.withMore(added), rows: new Map() });
}

function used(spaces: CachedSpace[], entry: CachedSpace): CachedSpace {
  const at = spaces.indexOf(entry);
  if (at >= 0) spaces.splice(at, 1);
  if (entry.rows.size > 2 * entry.space.classes.length + SPARE_ROWS) entry.rows.clear();
  spaces.unshift(entry);
  spaces.length = Math.min(spaces.length, MAX_SPACES);
  return entry;
}

function distinct(classes: readonly EndpointClass[]): EndpointClass[] {
  return [...new Map(classes.map((one) => [one.signature, one])).values()];
}
