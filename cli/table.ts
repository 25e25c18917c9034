import { styleText } from 'node:util';
import type { Columns } from '../core/base/operation.ts';
import { longestPart, terminalWidth, wrapped } from './fit.ts';
import { inLocalTime } from './local-time.ts';
import { relativeTime } from './relative-time.ts';
import { visibleLine } from './visible.ts';

type Row = Readonly<Record<string, unknown>>;

const NOTHING = '-';
const GAP = '  ';
const BELOW = '    ';
/** Text is not made narrower than that. */
const MIN_TEXT_WIDTH = 24;
/** A cell with more words is text, which may be broken. */
const TEXT_WORDS = 4;
/** Share of the width that the names of a record's fields may take. */
const MAX_NAMES = 0.5;
/** A longer word, such as a token, stands below its row where it has no room. */
const MAX_WORD = 60;
/** Fields of numbers in which 0 stands for no limit. */
const ZERO_IS_NO_LIMIT: ReadonlySet<string> = new Set(['usageLimit']);

/** Returns an answer as a table for a person: a row for each of its items, or a line for each field of a record. */
export function textOf(answer: unknown, columns?: Columns): string {
  const { items, next_cursor: next, ...besides } = (answer ?? {}) as Row;
  if (!columns || !Array.isArray(items)) return recordText(answer);
  return [
    items.length === 0 ? 'none' : table(items as Row[], columns),
    ...Object.entries(besides).flatMap(([field, value]) => (value ? [`${visibleLine(field)}: ${cellOf(value)}`] : [])),
    ...(next === undefined ? [] : [visibleLine(`more: --cursor ${next}`)]),
  ].join('\n');
}

/** Returns a line for each row, its cells below the titles; no wider than the terminal, with texts in several lines where they have to be. */
export function table(rows: readonly Row[], columns: Columns): string {
  const { kept, widths, below } = fitted(rows, columns, terminalWidth());
  const line = (values: readonly string[]) =>
    values
      .map((value, at) => value.padEnd(widths[at] ?? 0))
      .join(GAP)
      .trimEnd();
  const linesOf = (cells: readonly string[], text: string | undefined) => {
    const parts = cells.map((cell, at) =>
      at === 0 ? firstLines(cell, widths[0] ?? 0) : wrapped(cell, widths[at] ?? 0),
    );
    const height = Math.max(...parts.map(({ length }) => length));
    return [
      ...Array.from({ length: height }, (_, at) => line(parts.map((part) => part[at] ?? ''))),
      ...(text === undefined || text === NOTHING ? [] : wrapped(text, terminalWidth() - BELOW.length).map(indented)),
    ];
  };
  const titles = linesOf(
    kept.map(({ title }) => title),
    below?.title,
  );
  const body = rows.flatMap((_, row) =>
    linesOf(
      kept.map(({ cells }) => cells[row] ?? NOTHING),
      below?.cells[row],
    ),
  );
  return [...titles.map((title) => styleText('bold', title)), ...body].join('\n');
}

/** Returns the lines of a list where a line begins: those below the first stand back, and look like none of the command's own. */
function firstLines(cell: string, width: number): readonly string[] {
  if (cell.length <= width) return [cell];
  return wrapped(cell, width - GAP.length).map((line, at) => (at === 0 ? line : `${GAP}${line}`));
}

const indented = (text: string) => `${BELOW}${text}`;

/** Returns what else the entries of a list say: how many fields more, and how to see them. Undefined where the table shows them all. */
export function beyondColumns(answer: unknown, columns: Columns): string | undefined {
  const { items = [] } = (answer ?? {}) as { items?: readonly Row[] };
  if (items.length === 0) return undefined;
  const { kept, below } = fitted(items, columns, terminalWidth());
  const shown = [...kept, ...(below ? [below] : [])].map(({ path }) => path);
  const left = new Set(items.flatMap((row) => pathsOf(row, shown)).filter((path) => !shown.includes(path)));
  return left.size === 0 ? undefined : `${left.size} more ${left.size === 1 ? 'field' : 'fields'} with -o json`;
}

interface Column {
  readonly title: string;
  readonly path: string;
  readonly cells: readonly string[];
  /** Characters that the longest cell takes on one line, and those that it cannot do without. */
  readonly natural: number;
  readonly least: number;
  readonly isText: boolean;
  readonly isEmpty: boolean;
}

interface FittedTable {
  readonly kept: readonly Column[];
  readonly widths: readonly number[];
  /** The text that has no room beside the others, and stands below each row. */
  readonly below: Column | undefined;
}

/** Leaves out empty columns where a table is too wide, then breaks texts or moves one below, then leaves out columns from the right. */
function fitted(rows: readonly Row[], columns: Columns, width: number): FittedTable {
  const all = Object.entries(columns).map(([title, path], at) => columnOf(title, rows, path, at > 0));
  const named = sizeOf(all.map(({ natural }) => natural)) <= width ? all : all.filter(({ isEmpty }) => !isEmpty);
  const longest = named.filter(({ isText }) => isText).toSorted((a, b) => b.natural - a.natural)[0];
  const others = named.filter((column) => column !== longest);
  const room = width - GAP.length - sizeOf(others.map(({ natural }) => natural));
  const below = longest && others.length > 0 && room < longest.least ? longest : undefined;
  let kept = below ? others : named;
  while (kept.length > 2 && sizeOf(kept.map(({ least }) => least)) > width) kept = kept.slice(0, -1);
  const widths = kept.map(({ natural }) => natural);
  while (sizeOf(widths) > width) {
    const spare = widths.map((own, at) => own - (kept[at]?.least ?? 0));
    const most = Math.max(...spare);
    if (most <= 0) break;
    const at = spare.indexOf(most);
    widths[at] = (widths[at] ?? 0) - 1;
  }
  return { kept, widths, below };
}

/** @param isLater where a line begins a list alone is broken: text there could be taken for a line of the command's own */
function columnOf(title: string, rows: readonly Row[], path: string, isLater: boolean): Column {
  const cells = rows.map((row) => cellOf(fieldOf(row, path), path));
  const natural = Math.max(title.length, ...cells.map(({ length }) => length));
  const isText = isLater && cells.some((cell) => cell.split(' ').length > TEXT_WORDS || longestPart(cell) > MAX_WORD);
  const part = isText ? longestPart : wholePart;
  const room = isLater ? 0 : GAP.length;
  const needed = cells.map((cell) => Math.min(cell.length, part(cell) + room));
  const least = Math.max(title.length, isText ? Math.min(natural, MIN_TEXT_WIDTH) : 0, ...needed);
  return {
    title,
    path,
    cells,
    natural,
    least,
    isText,
    isEmpty: cells.every((cell) => cell === NOTHING),
  };
}

/** Lists are broken behind their commas, and nothing else that is short: `3 min ago`. */
const wholePart = (cell: string) => (cell.includes(',') ? longestPart(cell) : cell.length);

const sizeOf = (widths: readonly number[]) =>
  widths.reduce((sum, own) => sum + own, 0) + GAP.length * Math.max(0, widths.length - 1);

/** The fields of an entry that say something; those of a field inside it where a column goes into it. */
function pathsOf(row: Row, shown: readonly string[], within = ''): string[] {
  return Object.entries(row).flatMap(([field, value]) => {
    const path = `${within}${field}`;
    const isEntered = shown.some((column) => column.startsWith(`${path}.`));
    if (isEntered && typeof value === 'object' && value !== null) return pathsOf(value as Row, shown, `${path}.`);
    return cellOf(value) === NOTHING ? [] : [path];
  });
}

function fieldOf(row: unknown, path: string): unknown {
  return path.split('.').reduce((value, field) => (value as Row | null | undefined)?.[field], row);
}

/** Returns a value as one line without control characters, whatever others wrote into it. */
function cellOf(value: unknown, path = ''): string {
  if (value === 0 && ZERO_IS_NO_LIMIT.has(path.slice(path.lastIndexOf('.') + 1))) return 'no limit';
  if (value === null || value === undefined || value === '') return NOTHING;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? NOTHING : value.map((item) => cellOf(item)).join(',');
  if (typeof value === 'object') {
    return cellOf(Object.entries(value).map(([key, inner]) => `${key}=${cellOf(inner)}`));
  }
  return relativeTime(String(value)) ?? visibleLine(inLocalTime(String(value)));
}

/** A line for each field of a record, with those of the objects in it by their paths. */
function recordText(record: unknown): string {
  const fields = pairsOf(record);
  if (fields.length === 0) return 'none';
  const width = terminalWidth();
  const isBeside = ([name]: Pair) => name.length <= width * MAX_NAMES;
  const names = Math.max(0, ...fields.filter(isBeside).map(([name]) => name.length));
  const room = Math.max(MIN_TEXT_WIDTH, width - names - GAP.length);
  const indent = ' '.repeat(names + GAP.length);
  return fields
    .flatMap(([name, text]) => {
      const lines = text.split('\n').flatMap((line) => wrapped(line, room));
      const isLong = name.length > names;
      const head = isLong ? [styleText('bold', name)] : [];
      const first = isLong ? indent : styleText('bold', name.padEnd(names)) + GAP;
      return [...head, ...lines.map((line, at) => `${at === 0 ? first : indent}${line}`.trimEnd())];
    })
    .join('\n');
}

type Pair = readonly [name: string, text: string];

function pairsOf(value: unknown, path = ''): readonly Pair[] {
  const isObject = typeof value === 'object' && value !== null;
  if (Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null)) {
    return value.flatMap((item, at) => pairsOf(item, `${path}[${at}]`));
  }
  if (isObject && !Array.isArray(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([field, inner]) =>
      pairsOf(inner, `${path === '' ? '' : `${path}.`}${visibleLine(field)}`),
    );
  }
  const shown = isObject && Object.keys(value).length === 0 ? NOTHING : valueText(value, path);
  return [[path === '' ? 'value' : path, shown]];
}

/** Shows the time itself too: in a record it may be what somebody looks for. */
function valueText(value: unknown, path: string): string {
  if (Array.isArray(value)) return value.map((item) => cellOf(item)).join(', ');
  if (typeof value !== 'string') return cellOf(value, path);
  const relative = relativeTime(value);
  if (relative === 'never') return relative;
  if (relative !== undefined) return `${value.slice(0, 19).replace('T', ' ')} UTC (${relative})`;
  return value === '' ? NOTHING : value.trimEnd().split('\n').map(visibleLine).join('\n');
}
