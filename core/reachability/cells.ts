import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { examplePair, pairsBetween, placeGroups } from './pairs-between.ts';
import { type AllowedPorts, NO_PORTS, type PortSetId } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import { ancestorsOf } from './units.ts';

/** The connections that endpoints of one group may open at those of another. A group is named by its index in the request. */
export interface Cell {
  readonly src: number;
  readonly dst: number;
  /** Ordered pairs of different endpoints that may talk. */
  readonly open: number;
  /** Each different set of ports among those pairs. */
  readonly sets: ReadonlySet<PortSetId>;
}

interface Piece {
  readonly group: number;
  readonly members: readonly number[];
}

/**
 * The cells in which something is open, each ordered pair of groups once. No endpoint is in two groups.
 *
 * Example: `[[web-1, web-2], [db-1]]` under "db takes TCP 5432 from web, and nothing isolates web" has three: web to web
 * with 2 pairs, web to db with 2, db to web with 2.
 */
export function cellsBetween(reach: Reachability, groups: readonly (readonly string[])[]): Cell[] {
  const pieces = groups.flatMap((names, group) =>
    placeGroups(reach, names).map((members): Piece => ({ group, members })),
  );
  const cells = new Map<number, { open: number; readonly sets: Set<PortSetId> }>();
  for (const from of pieces) {
    const isBound = ancestorsOf(reach.parts.endpoints, from.members[0]).length > 0;
    for (const to of pieces) {
      const add = (pairs: number, ports: PortSetId) => {
        if (ports === NO_PORTS || pairs === 0) return;
        const cell = getOrInsertComputed(cells, from.group * groups.length + to.group, emptyCell);
        cell.open += pairs;
        cell.sets.add(ports);
      };
      if (isBound) for (const { pairs, ports } of boundPairs(reach, from, to)) add(pairs, ports);
      else {
        const example = examplePair(from.members, to.members);
        if (example) add(countBetween(from, to), reach.pair(...example));
      }
    }
  }
  return [...cells].map(([key, cell]) => ({
    src: Math.floor(key / groups.length),
    dst: key % groups.length,
    ...cell,
  }));
}

const emptyCell = () => ({ open: 0, sets: new Set<PortSetId>() });

function countBetween(from: Piece, to: Piece): number {
  return from.members.length * (from === to ? from.members.length - 1 : to.members.length);
}

/** From members that a delegation bounds: towards its ancestors each has ports of its own. */
function* boundPairs(reach: Reachability, from: Piece, to: Piece) {
  for (const { src, dst, ports } of pairsBetween(reach, [from.members], [to.members])) {
    const selves = from === to && src === from.members ? dst.length : 0;
    yield { pairs: src.length * dst.length - selves, ports };
  }
}

/** All ports that some pair of a cell has. */
export function portsOfCell({ parts: { ports } }: Reachability, { sets }: Cell): AllowedPorts {
  let all: PortSetId = NO_PORTS;
  for (const set of sets) all = ports.union(all, set);
  return ports.describe(all);
}
