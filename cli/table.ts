import { styleText } from 'node:util';
import type { Columns } from '../core/base/operation.ts';
import { visibleLine } from './visible.ts';

type Row = Readonly<Record<string, unknown>>;

const NOTHING = '-';

/** An answer for a person: a table of what has columns, and what it says besides; anything else as JSON. */
export function textOf(answer: unknown, columns?: Columns): string {
  const { items, next_cursor: next, ...besides } = (answer ?? {}) as Row;
  if (!columns || !Array.isArray(items)) return JSON.stringify(answer, null, 2);
  return [
    items.length === 0 ? 'none' : table(items as Row[], columns),
    ...Object.entries(besides).flatMap(([field, value]) => (value ? [`${visibleLine(field)}: ${cellOf(value)}`] : [])),
    ...(next === undefined ? [] : [visibleLine(`more: --cursor ${next}`)]),
  ].join('\n');
}

/** A line for each row, its cells below the titles. */
export function table(rows: readonly Row[], columns: Columns): string {
  const titles = Object.keys(columns);
  const cells = rows.map((row) => Object.values(columns).map((path) => cellOf(fieldOf(row, path))));
  const widths = titles.map((title, at) => Math.max(title.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (values: readonly string[]) =>
    values
      .map((value, at) => value.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [styleText('bold', line(titles)), ...cells.map(line)].join('\n');
}

/** What else the entries of a list say: how many fields more, and how to see them. Nothing where the table shows them all. */
export function beyondColumns(answer: unknown, columns: Columns): string | undefined {
  const { items = [] } = (answer ?? {}) as { items?: readonly Row[] };
  const shown = Object.values(columns);
  const left = new Set(items.flatMap((row) => pathsOf(row, shown)).filter((path) => !shown.includes(path)));
  return left.size === 0 ? undefined : `${left.size} more ${left.size === 1 ? 'field' : 'fields'} with -o json`;
}

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

/** One line without control characters, whatever others wrote into a field. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return NOTHING;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? NOTHING : value.map(cellOf).join(',');
  if (typeof value === 'object') {
    return cellOf(Object.entries(value).map(([key, inner]) => `${key}=${cellOf(inner)}`));
  }
  return visibleLine(String(value));
}
