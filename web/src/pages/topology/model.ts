import type { components } from '../../api/schema.d.ts';
import { type Cell, type Group, groupOf, keyOf, nameOf, type Summary, termOf } from '../../reach/groups.ts';
import { pairsText, portsText } from '../../reach/ports.ts';
import { huesOf } from './hues.ts';

export type Paths = components['schemas']['GetPathSummaryResponse'];
type PathCount = Paths['paths'][number];
/** How the pairs of an edge reach each other: relayed where one is, failed where all are, and `none` where nothing is reported. */
export type PathKind = 'direct' | 'relayed' | 'failed' | 'none';
export const PATH_KINDS: readonly PathKind[] = ['none', 'direct', 'relayed', 'failed'];

export interface Node {
  readonly key: string;
  readonly name: string;
  readonly group: Group;
  /** How a question names it. */
  readonly term: string | undefined;
  /** What its members may open at each other. */
  readonly within: Cell | undefined;
  /** In units of the picture. */
  readonly radius: number;
  /** The hue of its group, in degrees. */
  readonly hue: number | undefined;
}

/** Between two nodes, in one direction or both. */
export interface Edge {
  readonly key: string;
  readonly a: Node;
  readonly b: Node;
  readonly there: Cell | undefined;
  readonly back: Cell | undefined;
  readonly paths: PathCount | undefined;
  readonly kind: PathKind;
}

export interface Graph {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  /** Edges that are not drawn. */
  readonly left: number;
}

/** Lines on the screen: more cannot be told apart. */
const MAX_EDGES = 2_000;
const SMALLEST = 8;
const LARGEST = 44;

/**
 * What is drawn of a summary, those edges with most pairs first.
 *
 * @param expanded key of the group whose peers stand alone
 */
export function graphOf(
  summary: Summary,
  paths: Paths | undefined,
  label: string | null,
  expanded: string | null = null,
): Graph {
  const { groups, cells, by, omitted_cells: omitted } = summary;
  const most = Math.max(2, ...groups.map(({ peers }) => peers));
  const within = new Map(cells.filter(({ src, dst }) => src === dst).map((cell) => [cell.src, cell]));
  const hues = huesOf([...groups, ...(expanded === null ? [] : [groupOf(expanded)])]);
  const nodes = groups.map(
    (group, place): Node => ({
      key: keyOf(group),
      name: nameOf(group, by),
      group,
      term: termOf(group, by, label),
      within: within.get(place),
      radius: radiusOf(group, most),
      hue: hues.get(group.kind === 'peer' && expanded !== null ? expanded : keyOf(group)),
    }),
  );
  const counts = new Map(
    paths?.paths.map((count) => {
      const ends = [count.a, count.b].map((place) => {
        const group = paths.groups[place];
        return group ? keyOf(group) : '';
      });
      return [pairKey(ends[0] ?? '', ends[1] ?? ''), count] as const;
    }),
  );
  const edges = new Map<string, { a: Node; b: Node; there?: Cell; back?: Cell }>();
  for (const cell of cells) {
    const [from, to] = [nodes[cell.src], nodes[cell.dst]];
    if (!from || !to || from === to) continue;
    const key = pairKey(from.key, to.key);
    const known = edges.get(key);
    if (!known) edges.set(key, { a: from, b: to, there: cell });
    else known.back = cell;
  }
  const all = [...edges].map(([key, { a, b, there, back }]): Edge => {
    const count = counts.get(key);
    return { key, a, b, there, back, paths: count, kind: kindOf(count) };
  });
  return { nodes, edges: all.slice(0, MAX_EDGES), left: Math.max(0, all.length - MAX_EDGES) + omitted };
}

/** As `TCP 5432 · 24 pairs`: the ports of either direction and the pairs of both. */
export function edgeText({ there, back }: Pick<Edge, 'there' | 'back'>): string {
  const cells = [there, back].flatMap((cell) => (cell ? [cell] : []));
  const ports = [...new Set(cells.map((cell) => portsText(cell.allowed, { most: 2, omitted: cell.omitted_ports })))];
  return `${ports.join(' / ')} · ${pairsText(cells.reduce((sum, cell) => sum + cell.open_pairs, 0))}`;
}

export function pairKey(one: string, other: string): string {
  return one < other ? JSON.stringify([one, other]) : JSON.stringify([other, one]);
}

function kindOf(count: PathCount | undefined): PathKind {
  if (!count) return 'none';
  if (count.direct + count.relayed === 0) return 'failed';
  return count.relayed > 0 ? 'relayed' : 'direct';
}

/** Areas are as member counts are. */
function radiusOf({ kind, peers }: Group, most: number): number {
  if (kind === 'peer') return SMALLEST;
  if (kind === 'outside') return 20;
  return 14 + (LARGEST - 14) * Math.sqrt((peers - 1) / most);
}
