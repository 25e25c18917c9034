import type { Colours } from './colours.ts';
import { type Curve, curvesOf } from './curves.ts';
import { hueColour } from './hues.ts';
import { drawLabels } from './labels.ts';
import { type Edge, type Graph, type Node, PATH_KINDS, type PathKind } from './model.ts';
import type { Marked, Picture, View } from './picture.ts';
import type { Place } from './places.ts';

const DASHES: Readonly<Record<PathKind, readonly number[]>> = {
  direct: [],
  relayed: [8, 5],
  failed: [2, 4],
  none: [],
};
const WIDTHS: Readonly<Record<PathKind, number>> = { direct: 2, relayed: 2, failed: 2, none: 1 };
const HEAD = 11;
/** Of the colour of a group in its disc, so that the count in it is read in both themes. */
const TINT = 0.25;

export function pictureOf(graph: Graph, places: ReadonlyMap<string, Place>): Picture {
  const make = () => new Map(PATH_KINDS.map((kind) => [kind, new Path2D()] as const));
  const [lines, heads] = [make(), make()];
  const curves = curvesOf(graph, places);
  for (const edge of graph.edges) {
    const [line, head] = [lines.get(edge.kind), heads.get(edge.kind)];
    if (line && head) addEdge(edge, curves, line, head);
  }
  return { graph, places, curves, lines, heads };
}

function addEdge(edge: Edge, curves: ReadonlyMap<string, Curve>, line: Path2D, head: Path2D): void {
  const curve = curves.get(edge.key);
  if (!curve) return;
  const { from, to, control } = curve;
  line.moveTo(from.x, from.y);
  if (control) line.quadraticCurveTo(control.x, control.y, to.x, to.y);
  else line.lineTo(to.x, to.y);
  if (edge.there) addHead(head, control ?? from, to);
  if (edge.back) addHead(head, control ?? to, from);
}

/** A triangle that says in which direction connections are opened. */
function addHead(head: Path2D, from: Place, to: Place): void {
  const turn = Math.atan2(to.y - from.y, to.x - from.x);
  head.moveTo(to.x, to.y);
  for (const side of [0.45, -0.45]) {
    head.lineTo(to.x - HEAD * Math.cos(turn + side), to.y - HEAD * Math.sin(turn + side));
  }
  head.closePath();
}

export function draw(
  context: CanvasRenderingContext2D,
  { graph, places, curves, lines, heads }: Picture,
  view: View,
  colours: Colours,
  marked: Marked,
): void {
  const { width, height } = context.canvas;
  const ratio = devicePixelRatio;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  const toPicture = () => {
    const scale = view.scale * ratio;
    context.setTransform(scale, 0, 0, scale, view.x * ratio, view.y * ratio);
  };
  toPicture();
  const isAnyMarked = marked.nodes.size + marked.edges.size > 0;
  for (const kind of PATH_KINDS) {
    const colour = colourOf(kind, colours);
    context.globalAlpha = isAnyMarked ? 0.25 : graph.edges.length > 300 ? 0.5 : 1;
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = WIDTHS[kind] / view.scale;
    // Dashes of thousands of lines cost more than the lines.
    context.setLineDash(graph.edges.length > 500 ? [] : DASHES[kind].map((length) => length / view.scale));
    context.stroke(lines.get(kind) as Path2D);
    context.setLineDash([]);
    context.fill(heads.get(kind) as Path2D);
  }
  context.globalAlpha = 1;
  const strong = graph.edges.filter(({ key }) => marked.edges.has(key));
  for (const edge of strong) {
    const [line, head] = [new Path2D(), new Path2D()];
    addEdge(edge, curves, line, head);
    context.strokeStyle = colourOf(edge.kind, colours);
    context.fillStyle = context.strokeStyle;
    context.lineWidth = 2.5 / view.scale;
    context.setLineDash(DASHES[edge.kind].map((length) => length / view.scale));
    context.stroke(line);
    context.setLineDash([]);
    context.fill(head);
  }
  for (const node of graph.nodes) drawNode(context, node, places.get(node.key), view, colours, marked);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawLabels(context, { graph, places, curves }, view, colours, marked);
}

export function colourOf(kind: PathKind, colours: Colours): string {
  return { direct: colours.ok, relayed: colours.warn, failed: colours.danger, none: colours['line-strong'] }[kind];
}

/** A disc for peers in the colour of their group, a square for what is outside, a dashed rim for those that no label names. */
function drawNode(
  context: CanvasRenderingContext2D,
  { key, group, radius, hue }: Node,
  place: Place | undefined,
  { scale }: View,
  colours: Colours,
  marked: Marked,
): void {
  if (!place) return;
  const isMarked = marked.nodes.has(key);
  context.beginPath();
  if (group.kind === 'outside') context.rect(place.x - radius, place.y - radius, 2 * radius, 2 * radius);
  else context.arc(place.x, place.y, radius, 0, 2 * Math.PI);
  context.fillStyle = isMarked ? colours['accent-low'] : colours.surface;
  context.fill();
  const own = hue === undefined ? colours['text-dim'] : hueColour(hue);
  if (!isMarked && hue !== undefined) {
    context.globalAlpha = TINT;
    context.fillStyle = own;
    context.fill();
    context.globalAlpha = 1;
  }
  context.lineWidth = (isMarked ? 3 : 2) / scale;
  context.strokeStyle = isMarked ? colours.accent : own;
  if (group.kind === 'unlabelled' || group.kind === 'rest') context.setLineDash([4 / scale, 3 / scale]);
  context.stroke();
  context.setLineDash([]);
  if (group.online === 0 || group.kind === 'outside') return;
  // How many of them are online, as a share of the rim.
  context.beginPath();
  context.arc(place.x, place.y, radius - 4, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * (group.online / group.peers));
  context.strokeStyle = colours.ok;
  context.lineWidth = 3;
  context.stroke();
}
