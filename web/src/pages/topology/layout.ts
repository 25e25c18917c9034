import type { Edge, Graph, Node } from './model.ts';
import { digestOf, type Place } from './places.ts';

/** From one layer to the next, in units of the picture: room for the ports on an edge. */
const LAYER_WIDTH = 220;
/** Between the rims of two nodes of a layer. */
const GAP = 56;
/** Nodes below each other; a layer with more has several columns. */
const MOST_BELOW = 10;
/** Height of a picture beside its width: layers of few nodes are spread over it. */
const ASPECT = 0.6;
/** By how much of its free room a layer stands higher or lower than the one before: none has the height of its neighbors. */
const SHIFTS = [-0.8, 0.7, -0.1, -0.55, 0.85, 0.3];
/** Passes over the layers that bring neighbors to the height of each other. */
const SWEEPS = 6;

/**
 * Places the nodes of a graph in layers from left to right, in the direction in which connections are opened: the same graph
 * has the same picture. Nodes with a place keep it; peers of a group that was opened stand where the group stood.
 */
export async function layOut(
  graph: Graph,
  known: ReadonlyMap<string, Place>,
  start: Place | undefined,
  signal: AbortSignal,
): Promise<Map<string, Place>> {
  signal.throwIfAborted();
  const isKnown = ({ key }: Node) => known.has(digestOf(key));
  const opened = start ? graph.nodes.filter((node) => node.group.kind === 'peer' && !isKnown(node)) : [];
  const taken = new Map(graph.nodes.filter(isKnown).map((node) => [node, known.get(digestOf(node.key)) as Place]));
  const places = inLayers(layersOf(graph));
  opened.forEach((node, index) => {
    const side = Math.ceil(Math.sqrt(opened.length));
    const [column, row] = [index % side, Math.floor(index / side)];
    const step = 2 * node.radius + GAP;
    if (start) places.set(node.key, free({ x: start.x + column * step, y: start.y + row * step }, node, taken));
  });
  for (const node of graph.nodes) {
    const own = taken.get(node);
    const place = places.get(node.key);
    if (own) places.set(node.key, own);
    else if (place) {
      const found = free(place, node, taken);
      places.set(node.key, found);
      taken.set(node, found);
    }
  }
  return places;
}

/** Places layers from left to right, each spread over the height, and shifted so that edges pass beside its nodes. */
function inLayers(layers: readonly (readonly Node[])[]): Map<string, Place> {
  const columns = layers.map(columnsOf);
  const heightOf = (column: readonly Node[]) => column.reduce((sum, { radius }) => sum + 2 * radius + GAP, 0);
  const width = columns.reduce((sum, { length }) => sum + (LAYER_WIDTH * (length + 1)) / 2, 0);
  const highest = Math.max(GAP, ...columns.flat().map(heightOf));
  const height = Math.max(highest, ASPECT * width);
  const places = new Map<string, Place>();
  let x = 0;
  for (const [index, layer] of columns.entries()) {
    for (const column of layer) {
      const free = (height - heightOf(column)) / column.length;
      const lower = ((SHIFTS[index % SHIFTS.length] ?? 0) * free) / 2;
      let y = -height / 2;
      for (const node of column) {
        const own = 2 * node.radius + GAP + free;
        places.set(node.key, { x, y: Math.round(y + own / 2 + lower) });
        y += own;
      }
      x += LAYER_WIDTH / 2;
    }
    x += LAYER_WIDTH / 2;
  }
  return places;
}

/** The nearest place below that no node has. */
function free(place: Place, { radius }: Node, taken: ReadonlyMap<Node, Place>): Place {
  const { x } = place;
  let { y } = place;
  const inWay = () =>
    [...taken].find(([other, at]) => Math.hypot(at.x - x, at.y - y) < other.radius + radius + GAP / 4);
  for (let found = inWay(); found; found = inWay()) y = Math.round(found[1].y + found[0].radius + radius + GAP / 2);
  return { x, y };
}

function columnsOf(layer: readonly Node[]): Node[][] {
  const count = Math.max(1, Math.ceil(layer.length / MOST_BELOW));
  const length = Math.ceil(layer.length / count);
  return Array.from({ length: count }, (_, index) => layer.slice(index * length, (index + 1) * length));
}

/** Returns the nodes by layers, each in the order from top to bottom. What is outside stands at the right. */
function layersOf({ nodes, edges }: Graph): Node[][] {
  const inner = nodes.filter(({ group }) => group.kind !== 'outside').toSorted(byName);
  const outer = nodes.filter(({ group }) => group.kind === 'outside');
  const arrows = acyclic(inner, edges);
  const ranks = ranksOf(inner, arrows);
  const connected = new Set(edges.filter(({ a, b }) => ranks.has(a) && ranks.has(b)).flatMap(({ a, b }) => [a, b]));
  const layers: Node[][] = [];
  for (const node of inner) {
    if (!connected.has(node)) continue;
    const rank = ranks.get(node) ?? 0;
    while (layers.length <= rank) layers.push([]);
    layers[rank]?.push(node);
  }
  const ordered = swept(layers, edges);
  // Without a connection to another group they stand at the left of all.
  const alone = inner.filter((node) => !connected.has(node));
  return [alone, ...ordered, outer].filter((layer) => layer.length > 0);
}

function byName(one: Node, other: Node): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}

type Arrows = ReadonlyMap<Node, readonly Node[]>;

/** Edges in the direction in which they are opened, without those that would lead back. */
function acyclic(nodes: readonly Node[], edges: readonly Edge[]): Arrows {
  const all = new Map<Node, Node[]>(nodes.map((node) => [node, []]));
  const incoming = new Map<Node, number>();
  for (const { a, b, there } of edges) {
    const [from, to] = there ? [a, b] : [b, a];
    if (!all.has(from) || !all.has(to)) continue;
    all.get(from)?.push(to);
    incoming.set(to, (incoming.get(to) ?? 0) + 1);
  }
  // Nodes that are opened least come first, so that few edges lead back.
  const order = nodes.toSorted((one, other) => (incoming.get(one) ?? 0) - (incoming.get(other) ?? 0));
  const kept = new Map<Node, Node[]>();
  const open = new Set<Node>();
  for (const root of order) {
    const stack: { readonly node: Node; readonly left: Node[] }[] = [];
    const enter = (node: Node) => {
      kept.set(node, []);
      open.add(node);
      stack.push({ node, left: (all.get(node) ?? []).toSorted(byName).reverse() });
    };
    if (!kept.has(root)) enter(root);
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const next = top.left.pop();
      if (!next) {
        open.delete(top.node);
        stack.pop();
        continue;
      }
      if (open.has(next)) continue;
      kept.get(top.node)?.push(next);
      if (!kept.has(next)) enter(next);
    }
  }
  return kept;
}

/** The longest way to each node. */
function ranksOf(nodes: readonly Node[], arrows: Arrows): Map<Node, number> {
  const waiting = new Map<Node, number>(nodes.map((node) => [node, 0]));
  for (const targets of arrows.values()) for (const node of targets) waiting.set(node, (waiting.get(node) ?? 0) + 1);
  const ranks = new Map<Node, number>(nodes.map((node) => [node, 0]));
  const ready = nodes.filter((node) => waiting.get(node) === 0);
  for (let node = ready.pop(); node; node = ready.pop()) {
    const rank = (ranks.get(node) ?? 0) + 1;
    for (const target of arrows.get(node) ?? []) {
      ranks.set(target, Math.max(ranks.get(target) ?? 0, rank));
      const left = (waiting.get(target) ?? 0) - 1;
      waiting.set(target, left);
      if (left === 0) ready.push(target);
    }
  }
  return ranks;
}

/** Orders each layer by the mean height of the neighbors of its nodes. */
function swept(layers: readonly (readonly Node[])[], edges: readonly Edge[]): Node[][] {
  const neighbors = new Map<Node, Node[]>();
  for (const { a, b } of edges) {
    neighbors.set(a, [...(neighbors.get(a) ?? []), b]);
    neighbors.set(b, [...(neighbors.get(b) ?? []), a]);
  }
  const heights = new Map<Node, number>();
  const measure = (layer: readonly Node[]) => {
    for (const [index, node] of layer.entries()) heights.set(node, index - (layer.length - 1) / 2);
  };
  for (const layer of layers) measure(layer);
  let ordered = layers.map((layer) => [...layer]);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    ordered = ordered.map((layer) => {
      const means = new Map(layer.map((node) => [node, meanOf(neighbors.get(node) ?? [], heights)]));
      const sorted = layer.toSorted((one, other) => (means.get(one) ?? 0) - (means.get(other) ?? 0));
      measure(sorted);
      return sorted;
    });
  }
  return ordered;
}

function meanOf(nodes: readonly Node[], heights: ReadonlyMap<Node, number>): number {
  const known = nodes.flatMap((node) => heights.get(node) ?? []);
  return known.length === 0 ? 0 : known.reduce((sum, height) => sum + height, 0) / known.length;
}
