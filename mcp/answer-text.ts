import { jsonText } from '../core/base/as-data.ts';
import { isObject } from '../core/base/is-object.ts';
import { portRangeSchema } from '../core/reachability/answers.ts';
import { blockText } from './block-text.ts';

/**
 * An answer as text that suffices alone, in a third of the tokens of its JSON. `{id: 'p_1', allowed: [{protocol: 'TCP',
 * from: 22, to: 22}], items: [{name: 'a', online: true, network: 'n'}, {name: 'b c', online: false, network: 'n'}]}` is
 *
 *     id: p_1
 *     allowed: TCP/22
 *     items (2), each network=n:
 *     name online
 *     a true
 *     "b c" false
 *
 * Text that is more than one plain word stands as a JSON string or in a fence, so that no value can look like a line.
 */
export function answerText(value: unknown): string {
  return isObject(value) ? linesOf(value, '').join('\n') : cellOf(value);
}

type Fields = Readonly<Record<string, unknown>>;

/** Words that cannot be taken for a field, a fence, a heading or two values. */
const WORD = /^(?!-$)[\w./@+*%?&~#:-]*[\w/@+*%?&~-]$/;
const FIRST_OF_LINE = /^[#*+>~-]/;
const NOTHING = '-';

function linesOf(fields: Fields, path: string): string[] {
  return Object.entries(fields).flatMap(([name, value]) => linesOfField(`${path}${nameOf(name)}`, value, path === ''));
}

function linesOfField(label: string, value: unknown, isOuter: boolean): string[] {
  if (isNothing(value)) return isOuter && Array.isArray(value) ? [`${label}: none`] : [];
  if (isLong(value)) return [`${label}:`, blockText('', value)];
  if (isObject(value)) {
    const fits = Object.values(value).every((each) => isNothing(each) || isCell(each));
    return fits ? [`${label}: ${pairsOf(value, ' ')}`] : linesOf(value, `${label}.`);
  }
  if (!isRecords(value)) return [`${label}: ${Array.isArray(value) ? value.map(cellOf).join(', ') : cellOf(value)}`];
  return tableLines(label, value) ?? value.flatMap((each, index) => linesOf(each, `${label}[${index}].`));
}

/** Undefined for records with text of several lines. */
function tableLines(label: string, records: readonly Fields[]): string[] | undefined {
  if (records.some((record) => Object.values(record).some(isLong))) return undefined;
  const rows = flattened(records);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].map((name) => {
    const cells = rows.map((row) => (isNothing(row[name]) ? NOTHING : cellOf(row[name])));
    return { name, cells, isShared: cells.every((cell) => cell === cells[0]) };
  });
  const own = rows.length > 1 ? columns.filter(({ isShared }) => !isShared) : columns.filter(isFilled);
  const shared = columns.filter((column) => !own.includes(column) && isFilled(column));
  const each = shared.map(({ name, cells }) => `${name}=${cells[0]}`).join(' ');
  const head = `${label} (${rows.length})${each === '' ? '' : `, each ${each}`}`;
  if (own.length === 0) return [head];
  const lines = rows.map((_, index) => own.map(({ cells }) => cells[index]).join(' '));
  return [
    `${head}:`,
    own.map(({ name }) => name).join(' '),
    ...lines.map((line) => (FIRST_OF_LINE.test(line) ? ` ${line}` : line)),
  ];
}

function isFilled({ cells }: { readonly cells: readonly string[] }): boolean {
  return cells.some((cell) => cell !== NOTHING);
}

/** Objects that have the same fields in every row become columns of their own. */
function flattened(records: readonly Fields[]): Fields[] {
  const shapes = new Map<string, string | undefined>();
  for (const [index, record] of records.entries()) {
    const names = new Set([...Object.keys(record), ...shapes.keys()]);
    for (const name of names) {
      const inner = record[name];
      const shape = isObject(inner) && !isRange(inner) ? JSON.stringify(Object.keys(inner)) : undefined;
      shapes.set(name, index === 0 || shapes.get(name) === shape ? shape : undefined);
    }
  }
  if (![...shapes.values()].some((shape) => shape !== undefined && shape !== '[]')) {
    return records.map((record) =>
      Object.fromEntries(Object.entries(record).map(([name, value]) => [nameOf(name), value])),
    );
  }
  return flattened(
    records.map((record) =>
      Object.fromEntries(
        Object.entries(record).flatMap(([name, value]) =>
          shapes.get(name) !== undefined && isObject(value)
            ? Object.entries(value).map(([inner, each]) => [`${name}.${inner}`, each] as const)
            : [[name, value] as const],
        ),
      ),
    ),
  );
}

/** A value without spaces outside of quotes. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return NOTHING;
  if (typeof value === 'string') return WORD.test(value) ? value : jsonText(value);
  if (isRange(value)) return rangeText(value);
  if (Array.isArray(value) && value.length > 0 && value.every(isCell)) return value.map(cellOf).join(',');
  if (isObject(value) && Object.values(value).every(isPlain)) return pairsOf(value, ',');
  return jsonText(value);
}

function pairsOf(fields: Fields, between: string): string {
  const pairs = Object.entries(fields).filter(([, value]) => !isNothing(value));
  return pairs.map(([name, value]) => `${nameOf(name)}=${cellOf(value)}`).join(between) || NOTHING;
}

function nameOf(name: string): string {
  return WORD.test(name) ? name : jsonText(name);
}

function isCell(value: unknown): boolean {
  return (
    isPlain(value) || isRange(value) || (Array.isArray(value) && value.every((each) => isPlain(each) || isRange(each)))
  );
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** True for a text of several lines, such as a resource in YAML. */
function isLong(value: unknown): value is string {
  return typeof value === 'string' && value.trim().includes('\n');
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function isRecords(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.every((each) => isObject(each) && !isRange(each));
}

const rangeOnly = portRangeSchema.strict();

function isRange(value: unknown): value is { protocol: string; from?: number; to?: number } {
  return isObject(value) && 'protocol' in value && rangeOnly.safeParse(value).success;
}

function rangeText({ protocol, from, to }: { protocol: string; from?: number; to?: number }): string {
  if (from === undefined) return protocol;
  return to === undefined || to === from ? `${protocol}/${from}` : `${protocol}/${from}-${to}`;
}
