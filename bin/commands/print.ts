import { styleText } from 'node:util';
import { z } from 'zod';

/** An answer for a person, or the JSON itself. Lists become tables of their plain fields. */
export function print(answer: unknown, json: boolean): void {
  tellWaiting(answer);
  if (json || typeof answer !== 'object' || answer === null) {
    console.log(JSON.stringify(answer, null, 2));
    return;
  }
  const { items, next_cursor: next } = answer as { items?: unknown; next_cursor?: string };
  if (!Array.isArray(items)) {
    console.log(JSON.stringify(answer, null, 2));
    return;
  }
  console.log(items.length === 0 ? 'none' : table(items as Record<string, unknown>[]));
  if (next) console.log(`more: --cursor ${next}`);
}

const waiting = z.looseObject({ status: z.literal('pending_approval'), workflow_id: z.string() });

/** Whether an answer says that a person has to approve first; how is said beside it, on standard error. */
export function isWaiting(answer: unknown): boolean {
  return waiting.safeParse(answer).success;
}

function tellWaiting(answer: unknown): void {
  const { data } = waiting.safeParse(answer);
  if (data) process.stderr.write(`Waits for approval: mesh admin approve-workflow --id ${data.workflow_id}\n`);
}

const MAX_COLUMNS = 7;

function table(rows: readonly Record<string, unknown>[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
    .filter((column) => rows.some((row) => isPlain(row[column])))
    .slice(0, MAX_COLUMNS);
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column])));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  const line = (values: readonly string[]) =>
    values
      .map((value, index) => value.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return [styleText('bold', line(columns)), ...cells.map(line)].join('\n');
}

const isPlain = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

function cellOf(value: unknown): string {
  return isPlain(value) ? String(value) : '';
}
