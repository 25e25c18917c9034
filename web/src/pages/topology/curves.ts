import type { Edge, Graph } from './model.ts';
import type { Place } from './places.ts';

/** The line of an edge, from rim to rim: straight, or bent towards a control point (a quadratic Bézier curve). */
export interface Curve {
  readonly from: Place;
  readonly to: Place;
  readonly control: Place | undefined;
}

/** Lines are bent around nodes in pictures with at most so many: among more, no line can be followed. */
const MOST_BENT = 600;
/** How far a curve bows out to either side, as shares of its length. */
const BOWS = [0.15, -0.15, 0.3, -0.3, 0.45, -0.45, 0.6, -0.6];
/** Between a line and the rim of a node that it passes, in units of the picture. */
const CLEARANCE = 8;
const SAMPLES = 16;

interface Disc extends Place {
  readonly key: string;
  readonly radius: number;
}

/** Returns the line of each edge whose nodes have a place: straight where nothing is in its way, else the least bent one. */
export function curvesOf({ nodes, edges }: Graph, places: ReadonlyMap<string, Place>): ReadonlyMap<string, Curve> {
  const discs = nodes.flatMap(({ key, radius }): Disc[] => {
    const place = places.get(key);
    return place ? [{ key, radius, ...place }] : [];
  });
  const isBent = edges.length <= MOST_BENT;
  return new Map(
    edges.flatMap((edge) => {
      const curve = curveOf(edge, places, isBent ? discs : []);
      return curve ? [[edge.key, curve] as const] : [];
    }),
  );
}

function curveOf(edge: Edge, places: ReadonlyMap<string, Place>, discs: readonly Disc[]): Curve | undefined {
  const [a, b] = [places.get(edge.a.key), places.get(edge.b.key)];
  if (!a || !b) return undefined;
  const others = discs.filter(({ key }) => key !== edge.a.key && key !== edge.b.key);
  const bowed = (share: number) => between(edge, a, b, share);
  let best = bowed(0);
  let least = hitsOf(best, others);
  for (const share of BOWS) {
    if (least === 0) break;
    const curve = bowed(share);
    const hits = hitsOf(curve, others);
    if (hits < least) [best, least] = [curve, hits];
  }
  return best;
}

function between(edge: Edge, a: Place, b: Place, share: number): Curve {
  const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  // Twice as far out as the curve comes.
  const control =
    share === 0 ? undefined : { x: middle.x - 2 * share * (b.y - a.y), y: middle.y + 2 * share * (b.x - a.x) };
  const from = towards(a, control ?? b, edge.a.radius + 2);
  return { from, to: towards(b, control ?? a, edge.b.radius + 2), control };
}

function towards(place: Place, other: Place, distance: number): Place {
  const [dx, dy] = [other.x - place.x, other.y - place.y];
  const length = Math.hypot(dx, dy) || 1;
  return { x: place.x + (dx / length) * distance, y: place.y + (dy / length) * distance };
}

/** Counts the nodes that a line would cross. */
function hitsOf(curve: Curve, discs: readonly Disc[]): number {
  return discs.filter((disc) => distanceTo(curve, disc) < disc.radius + CLEARANCE).length;
}

/** Returns a point of a line, from 0 at its beginning to 1 at its end. */
export function pointAt({ from, to, control }: Curve, share: number): Place {
  const [one, two] = control ? [mix(from, control, share), mix(control, to, share)] : [from, to];
  return mix(one, two, share);
}

function mix(one: Place, other: Place, share: number): Place {
  return { x: one.x + (other.x - one.x) * share, y: one.y + (other.y - one.y) * share };
}

/** Returns how far a point is from a line. */
export function distanceTo(curve: Curve, point: Place): number {
  if (!curve.control) return distanceToPart(curve.from, curve.to, point);
  let least = Number.POSITIVE_INFINITY;
  let before = curve.from;
  for (let part = 1; part <= SAMPLES; part += 1) {
    const next = pointAt(curve, part / SAMPLES);
    least = Math.min(least, distanceToPart(before, next, point));
    before = next;
  }
  return least;
}

function distanceToPart(a: Place, b: Place, { x, y }: Place): number {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const share = ((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy || 1);
  const along = Math.min(1, Math.max(0, share));
  return Math.hypot(a.x + along * dx - x, a.y + along * dy - y);
}
