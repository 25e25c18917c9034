import { countText } from '../../reach/ports.ts';
import type { Colours } from './colours.ts';
import { pointAt } from './curves.ts';
import { edgeText, type Node } from './model.ts';
import type { Marked, Picture, View } from './picture.ts';

/** So many are labelled; of more, those of what is picked. */
const LABELLED_EDGES = 60;
const LABELLED_NODES = 80;
/** CSS pixels. */
const FONT = '12px system-ui, sans-serif';
const HEIGHT = 16;
const LONGEST = 24;

type Box = readonly [left: number, top: number, right: number, bottom: number];
type Shown = Pick<Picture, 'graph' | 'places' | 'curves'>;

/**
 * Names of nodes, then of lines where there is room: one that would cover another is left out. A single line that is marked
 * has its label in any case.
 */
export function drawLabels(
  context: CanvasRenderingContext2D,
  { graph, places, curves }: Shown,
  view: View,
  colours: Colours,
  marked: Marked,
): void {
  context.font = FONT;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const taken: Box[] = [];
  const width = context.canvas.width / devicePixelRatio;
  const put = (text: string, middle: number, y: number, ink: string, isSure = false) => {
    const half = context.measureText(text).width / 2 + 4;
    const x = middle < 0 || middle > width ? middle : Math.min(Math.max(middle, half), width - half);
    const box: Box = [x - half, y - HEIGHT / 2, x + half, y + HEIGHT / 2];
    if (!isSure && taken.some((other) => overlaps(box, other))) return;
    taken.push(box);
    context.fillStyle = colours['surface-low'];
    context.fillRect(box[0], box[1], 2 * half, HEIGHT);
    context.fillStyle = ink;
    context.fillText(text, x, y);
  };
  const onScreen = ({ key }: Node) => {
    const place = places.get(key);
    return place && { x: place.x * view.scale + view.x, y: place.y * view.scale + view.y };
  };
  const isNamed = ({ key, radius }: Node) =>
    marked.nodes.has(key) || graph.nodes.length <= LABELLED_NODES || radius * view.scale > 14;
  const isFew = graph.edges.length <= LABELLED_EDGES;
  const isAnyPicked = marked.edges.size > 0;
  const labelled = graph.edges
    .filter(({ key }) => (isAnyPicked ? marked.edges.has(key) : isFew))
    .slice(0, LABELLED_EDGES);
  if (labelled.length > 0) {
    for (const node of graph.nodes) {
      const at = onScreen(node);
      const reach = node.radius * view.scale;
      if (at) taken.push([at.x - reach, at.y - reach, at.x + reach, at.y + reach]);
    }
  }
  for (const node of graph.nodes) {
    const at = onScreen(node);
    if (!at || !isNamed(node)) continue;
    const reach = node.radius * view.scale;
    if (node.group.kind !== 'peer' && reach > 12) {
      context.fillStyle = colours.text;
      context.fillText(countText(node.group.peers), at.x, at.y);
    }
    put(shortened(node.name), at.x, at.y + reach + HEIGHT / 2 + 2, colours.text);
  }
  for (const edge of labelled) {
    const curve = curves.get(edge.key);
    if (!curve) continue;
    const { x, y } = pointAt(curve, 0.5);
    const isSure = marked.edges.size === 1;
    put(edgeText(edge), x * view.scale + view.x, y * view.scale + view.y, colours['text-dim'], isSure);
  }
}

function overlaps(a: Box, b: Box): boolean {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

function shortened(name: string): string {
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 1)}…`;
}
