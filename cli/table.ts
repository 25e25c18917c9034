import { styleText } from 'node:util';
import { visibleLine } from './visible.ts';

/** Title of a column, and the path of its field: `status.address`. */
export type Columns = Readonly<Record<string, string>>;
type Row = Readonly<Record<string, unknown>>;

/** An answer for a person: lists are tables, anything else is JSON. */
export function textOf(answer: unknown, columns?: Columns): string {
  const { items, next_cursor: next } = (answer ?? {}) as { items?: unknown; next_cursor?: string };
  if (!Array.isArray(items)) return JSON.stringify(answer, null, 2);
  const rows = items as Row[];
  const shown = rows.length === 0 ? 'none' : table(rows, columns ?? plainColumns(rows));
  return next === undefined ? shown : `${shown}\nmore: --cursor ${next}`;
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

const MAX_PLAIN_COLUMNS = 7;

/** Of rows that nobody wrote columns for: the first plain fields. */
function plainColumns(rows: readonly Row[]): Columns {
  const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
  const fields = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((field) =>
    rows.some((row) => isPlain(row[field])),
  );
  return Object.fromEntries(fields.slice(0, MAX_PLAIN_COLUMNS).map((field) => [field, field]));
}

function fieldOf(row: unknown, path: string): unknown {
  return path.split('.').reduce((value, field) => (value as Row | null | undefined)?.[field], row);
}

/** One line without control characters, whatever others wrote into a field. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cellOf).join(',');
  if (typeof value === 'object') {
    return cellOf(Object.entries(value).map(([key, inner]) => `${key}=${cellOf(inner)}`));
  }
  return visibleLine(String(value));
}
