import { distanceTo } from './curves.ts';
import type { Edge, Node } from './model.ts';
import type { Picture, View } from './picture.ts';
import type { Place } from './places.ts';

const LEAST = 0.05;
const GREATEST = 4;
const LARGEST_FIT = 2;
/** CSS pixels around what is shown. */
const MARGIN = 48;
/** How near a line has to be pointed at, CSS pixels. */
const NEAR = 6;

/** Everything in sight, at most twice as large as it is. */
export function fitted({ graph, places }: Picture, width: number, height: number): View {
  const boxes = graph.nodes.flatMap(({ key, radius }) => {
    const place = places.get(key);
    return place ? [{ ...place, radius }] : [];
  });
  if (boxes.length === 0) return { x: width / 2, y: height / 2, scale: 1 };
  const least = (of: (box: Place & { radius: number }) => number) =>
    boxes.reduce((found, box) => Math.min(found, of(box)), Number.POSITIVE_INFINITY);
  const [left, top] = [least(({ x, radius }) => x - radius), least(({ y, radius }) => y - radius)];
  const [right, bottom] = [-least(({ x, radius }) => -x - radius), -least(({ y, radius }) => -y - radius)];
  const room = Math.min((width - 2 * MARGIN) / (right - left), (height - 2 * MARGIN) / (bottom - top));
  const scale = Math.min(LARGEST_FIT, Math.max(LEAST, room));
  return { x: (width - (left + right) * scale) / 2, y: (height - (top + bottom) * scale) / 2, scale };
}

/** Nearer or further, with the point of the screen under the pointer staying where it is. */
export function zoomed(view: View, factor: number, at: Place): View {
  const scale = Math.min(GREATEST, Math.max(LEAST, view.scale * factor));
  const change = scale / view.scale;
  return { x: at.x - (at.x - view.x) * change, y: at.y - (at.y - view.y) * change, scale };
}

export type Hit = { readonly node: Node } | { readonly edge: Edge };

/** What stands at a point of the screen. */
export function hitAt({ graph, places, curves }: Picture, view: View, at: Place): Hit | undefined {
  const point = { x: (at.x - view.x) / view.scale, y: (at.y - view.y) / view.scale };
  const node = graph.nodes.findLast(({ key, radius }) => {
    const place = places.get(key);
    return place && Math.hypot(place.x - point.x, place.y - point.y) <= radius + NEAR / 2 / view.scale;
  });
  if (node) return { node };
  const near = graph.edges.flatMap((edge) => {
    const curve = curves.get(edge.key);
    return curve ? [{ edge, distance: distanceTo(curve, point) * view.scale }] : [];
  });
  const nearest = near.reduce((a, b) => (b.distance < a.distance ? b : a), {
    edge: undefined as Edge | undefined,
    distance: NEAR,
  });
  return nearest.edge && { edge: nearest.edge };
}
