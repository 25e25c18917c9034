import type { Edge } from './model.ts';
import type { Place } from './places.ts';

/** Ends of the line at the rims of its nodes. */
export function endsOf({ a, b }: Edge, places: ReadonlyMap<string, Place>): readonly [Place, Place] | undefined {
  const [from, to] = [places.get(a.key), places.get(b.key)];
  if (!from || !to) return undefined;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const at = ({ x, y }: Place, distance: number) => ({
    x: x + (dx / length) * distance,
    y: y + (dy / length) * distance,
  });
  return [at(from, a.radius + 2), at(to, -b.radius - 2)];
}
