import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from 'd3-force';
import type { Graph } from './model.ts';
import { digestOf, type Place } from './places.ts';

/** At most this long at a time, ms: half of a frame. */
const SLICE_MS = 8;
const STEPS = 250;

interface Body extends SimulationNodeDatum {
  readonly key: string;
  readonly radius: number;
}

/**
 * Places the nodes of a graph. Those with a place keep it; peers of a group that was opened start where the group stood. Works
 * in slices, so that the page answers meanwhile. What is not needed any more is given up by `signal`.
 */
export async function layOut(
  { nodes, edges }: Graph,
  known: ReadonlyMap<string, Place>,
  start: Place | undefined,
  signal: AbortSignal,
): Promise<Map<string, Place>> {
  const bodies = nodes.map(({ key, radius, group }): Body => {
    const place = known.get(digestOf(key));
    if (place) return { key, radius, fx: place.x, fy: place.y, x: place.x, y: place.y };
    // Apart by a hair, in an order that is always the same: on one spot nothing knows where to go.
    return group.kind === 'peer' && start ? { key, radius, ...around(start, key) } : { key, radius };
  });
  if (bodies.some(({ fx }) => fx === undefined)) await simulate(bodies, edges, signal);
  // Whole numbers, as they are kept: the next visit draws the same.
  return new Map(bodies.map(({ key, x = 0, y = 0 }) => [key, { x: Math.round(x), y: Math.round(y) }]));
}

async function simulate(bodies: Body[], edges: Graph['edges'], signal: AbortSignal): Promise<void> {
  const links = edges.map(({ a, b }): SimulationLinkDatum<Body> => ({ source: a.key, target: b.key }));
  const simulation = forceSimulation(bodies)
    .force(
      'link',
      forceLink<Body, SimulationLinkDatum<Body>>(links)
        .id(({ key }) => key)
        .distance(({ source, target }) => 140 + (source as Body).radius + (target as Body).radius),
    )
    .force(
      'charge',
      forceManyBody<Body>().strength(({ radius }) => -55 * radius),
    )
    .force(
      'collide',
      forceCollide<Body>(({ radius }) => radius + 16),
    )
    // A screen is wider than it is high.
    .force('x', forceX<Body>().strength(0.05))
    .force('y', forceY<Body>().strength(0.09))
    .stop();
  let left = STEPS;
  while (left > 0) {
    const end = performance.now() + SLICE_MS;
    for (; left > 0 && performance.now() < end; left--) simulation.tick();
    if (left > 0) await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
}

function around({ x, y }: Place, key: string): Place {
  const turn = (Number.parseInt(digestOf(key).slice(0, 6), 36) / 36 ** 6) * 2 * Math.PI;
  return { x: x + 40 * Math.cos(turn), y: y + 40 * Math.sin(turn) };
}
