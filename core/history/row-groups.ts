import { invalidInput } from '../base/errors.ts';
import { lazily } from '../base/lazily.ts';
import { union } from '../model/ranges.ts';
import { textOfRanges } from '../reachability/outside.ts';
import type { BlockCode } from '../reachability/program.ts';
import { rangeNames } from '../reachability/range-names.ts';
import type { DiffRow } from '../reachability/reach-diff.ts';
import type { ChangeRef, causeFinder } from './row-causes.ts';
import type { Cell, cellsOf } from './row-cells.ts';

/** Connections that differ alike for the same reason. */
export interface RowGroup extends Omit<DiffRow, 'src' | 'dst'> {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  /** On which side addresses are; undefined between peers. */
  readonly side: 'src' | 'dst' | undefined;
  /** Ordered pairs of different ends. */
  readonly pairs: number;
  /** Undefined where it was too much to look for. */
  readonly changes: readonly ChangeRef[] | undefined;
  readonly together: boolean;
  readonly cells: readonly Cell[];
}

/** A connection that differs, and the resources that caused it: each alone, or all of them together. */
export interface RowWithCauses extends DiffRow {
  readonly causes: readonly string[];
  readonly together: boolean;
}

type Finder = ReturnType<typeof causeFinder>;
type Cells = ReturnType<typeof cellsOf>;

/** Cells as few groups, the largest first, addresses outside last. */
export function groupsOfCells({ cells, inside, blocks }: Omit<Cells, 'isOutsideCompared'>, finder: Finder): RowGroup[] {
  const made = cells.map((cell): RowGroup => {
    const causes = finder.of(cell);
    const { type, old, new: now, src, dst, outside } = cell;
    const why = { changes: causes?.changes, together: causes?.together ?? false };
    return { type, old, new: now, src, dst, side: outside?.side, pairs: 0, ...why, cells: [cell] };
  });
  const between = made.filter(({ side }) => side === undefined);
  const bySource = mergeBy(between, 'src', 'dst');
  const peers = mergeBy(bySource, 'dst', 'src');
  const addresses = mergedAddresses(
    made.filter(({ side }) => side !== undefined),
    finder,
    inside,
    blocks,
  );
  return [...peers, ...addresses]
    .map((group) => ({ ...group, pairs: pairsOf(group) }))
    .sort(
      (a, b) =>
        Number(a.side !== undefined) - Number(b.side !== undefined) ||
        b.pairs - a.pairs ||
        (keyOf(a) < keyOf(b) ? -1 : 1),
    );
}

/** Groups that share one end and the reason become one. */
function mergeBy(groups: readonly RowGroup[], same: 'src' | 'dst', other: 'src' | 'dst'): RowGroup[] {
  const nameOf = namer();
  const merged = Map.groupBy(groups, (group) => `${nameOf(group[same])} ${reasonOf(group)}`);
  return [...merged.values()].flatMap((own) => {
    const [first] = own;
    if (!first || own.length === 1) return own;
    const all = new Set(own.flatMap((group) => group[other]));
    return [{ ...first, [other]: [...all].sort(), cells: own.flatMap(({ cells }) => cells) }];
  });
}

/** A short name for each set of names: the same for the same. */
function namer(): (names: readonly string[]) => number {
  const byText = new Map<string, number>();
  const known = new WeakMap<readonly string[], number>();
  return (names) => {
    const own = known.get(names);
    if (own !== undefined) return own;
    const text = names.join('\n');
    const number = byText.get(text) ?? byText.size;
    byText.set(text, number);
    known.set(names, number);
    return number;
  };
}

function reasonOf({ type, old, new: now, changes, together, side }: RowGroup): string {
  return JSON.stringify([type, old, now, changes, together, side]);
}

/** Ranges of the same peers whose reason is the same are told in the fewest words. */
function mergedAddresses(
  groups: readonly RowGroup[],
  finder: Finder,
  inside: Cells['inside'],
  blocks: readonly BlockCode[],
): RowGroup[] {
  const nameOf = namer();
  const merged = Map.groupBy(groups, (group) => {
    const peers = group.side === 'src' ? group.dst : group.src;
    const resources = group.cells.map((cell) => finder.resourcesOf(cell));
    return `${nameOf(peers)} ${reasonOf(group)} ${JSON.stringify(resources)}`;
  });
  return [...merged.values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const cells = own.flatMap((group) => group.cells);
    const parts = cells.flatMap(({ outside }) => outside ?? []);
    const ranges = union(parts.flatMap((part) => part.ranges));
    const [part] = parts;
    const isWhole = part && textOfRanges(ranges) === textOfRanges(union(part.group.ranges));
    const names = isWhole ? part.group.names : rangeNames(ranges, inside, blocks);
    return [{ ...first, [first.side ?? 'src']: names, cells }];
  });
}

function pairsOf({ src, dst }: Pick<RowGroup, 'src' | 'dst'>): number {
  const to = new Set(dst);
  return src.length * dst.length - src.filter((name) => to.has(name)).length;
}

function keyOf({ src, dst, type }: RowGroup): string {
  return JSON.stringify([src[0], dst[0], type, src, dst]);
}

/** Pairs of one page. */
const MAX_PAIRS = 1_000;

export interface RowPage {
  readonly groups: readonly RowGroup[];
  readonly rows: readonly RowWithCauses[];
  /** Pairs behind this page. */
  readonly omitted: number;
  readonly next: string | undefined;
}

/** The next groups with their pairs; one with more pairs than fit goes on in the page after. */
export function pageOfRows(
  groups: readonly RowGroup[],
  finder: Finder,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
): RowPage {
  const begin = positionOf(cursor);
  const shown: RowGroup[] = [];
  const rows: RowWithCauses[] = [];
  let { group: index, pair: skip } = begin;
  let next: string | undefined;
  for (; index < groups.length; index += 1, skip = 0) {
    const group = groups[index];
    if (!group) break;
    if (shown.length >= limit || rows.length >= MAX_PAIRS) {
      next = `${index}.0`;
      break;
    }
    shown.push(group);
    const room = MAX_PAIRS - rows.length;
    rows.push(...rowsOf(group, finder, skip, room));
    if (group.pairs - skip > room) {
      next = `${index}.${skip + room}`;
      break;
    }
  }
  const total = groups.reduce((sum, { pairs }) => sum + pairs, 0);
  const before = groups.slice(0, begin.group).reduce((sum, { pairs }) => sum + pairs, 0) + begin.pair;
  return { groups: shown, rows, omitted: Math.max(0, total - before - rows.length), next };
}

function rowsOf({ cells, side, src, dst }: RowGroup, finder: Finder, skip: number, room: number): RowWithCauses[] {
  const rows: RowWithCauses[] = [];
  let passed = 0;
  const own = side === undefined ? cells : cells.slice(0, 1).map((cell) => ({ ...cell, src, dst }));
  for (const [at, cell] of own.entries()) {
    const causes = lazily(() => finder.resourcesOf(cells[at] ?? cell));
    for (const from of cell.src) {
      for (const to of cell.dst) {
        if (from === to) continue;
        if (rows.length >= room) return rows;
        if (passed++ < skip) continue;
        const { type, old, new: now, example } = cell;
        rows.push({ type, src: from, dst: to, old, new: now, ...forPair(causes(), example, { src: from, dst: to }) });
      }
    }
  }
  return rows;
}

/** Causes are found for one pair of a cell: the others have them by their own names. */
function forPair(
  { causes, together }: Pick<RowWithCauses, 'causes' | 'together'>,
  example: Cell['example'],
  pair: Cell['example'],
): Pick<RowWithCauses, 'causes' | 'together'> {
  const names = new Map([
    [`peers/${example.src}`, `peers/${pair.src}`],
    [`peers/${example.dst}`, `peers/${pair.dst}`],
  ]);
  return { causes: causes.map((id) => names.get(id) ?? id), together };
}

const CURSOR = /^(?<group>\d{1,9})\.(?<pair>\d{1,9})$/;

function positionOf(cursor: string | undefined): { readonly group: number; readonly pair: number } {
  if (cursor === undefined) return { group: 0, pair: 0 };
  const { group, pair } = CURSOR.exec(cursor)?.groups ?? {};
  if (group !== undefined && pair !== undefined) return { group: Number(group), pair: Number(pair) };
  const detail = 'Send next_cursor of the page before, with the same from and to.';
  throw invalidInput([{ pointer: '/cursor', detail }], `/cursor: ${detail}`);
}
