import { type FieldError, MeshError, settledOffers } from '../base/errors.ts';
import { memoize } from '../base/memoize.ts';
import { lettersOf, NameIndex } from '../base/nearest.ts';
import { foldName } from '../base/record.ts';

/** Names that an error offers. */
const MAX_OFFERED = 5;
/** Longer than any stored name with its faults: nothing is near. */
const MAX_COMPARED = 96;

/**
 * There is no such record. The names are kept apart from the message: only who may list them is told
 * ({@link withNames}).
 */
export function notFound(
  message: string,
  nearest: readonly string[],
  details: Record<string, unknown> = {},
): MeshError {
  return new MeshError('not_found', message, {
    ...details,
    ...(nearest.length > 0 && {
      nearest: nearest.slice(0, MAX_OFFERED),
      ...(nearest.length > MAX_OFFERED && { more: nearest.length - MAX_OFFERED }),
    }),
  });
}

/** The error with its names and connections said, or without them where the caller may not list them. */
export function withNames(error: MeshError, mayList: () => boolean): MeshError {
  const { nearest, more, errors, rows, vocabulary, ...details } = error.details;
  if (Array.isArray(rows)) return withRows(error, rows as readonly ShownRow[], mayList());
  if (Array.isArray(errors)) return withOffers(error, errors as readonly FieldError[], mayList);
  if (vocabulary !== undefined && !mayList()) {
    return new MeshError(error.code, error.message, { ...details, vocabulary: NO_VOCABULARY }, { cause: error });
  }
  if (!Array.isArray(nearest)) return error;
  if (!mayList()) return new MeshError(error.code, error.message, details, { cause: error });
  const names = nearest.map((name) => JSON.stringify(name));
  const others = typeof more === 'number' ? ` (and ${more} more)` : '';
  const offer = names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${names.at(-1)}` : names[0];
  return new MeshError(error.code, `${error.message} Did you mean ${offer}${others}?`, error.details, { cause: error });
}

const NO_VOCABULARY = { labels: [], near: [] };

/** A connection that an error tells. */
interface ShownRow {
  readonly src: string;
  readonly dst: string;
  readonly ports: string;
}

const EXAMPLES = 3;

function withRows({ code, message, details, cause }: MeshError, rows: readonly ShownRow[], isTold: boolean): MeshError {
  const { rows: _, ...others } = details;
  if (!isTold) return new MeshError(code, message, others, { cause });
  const examples = rows.slice(0, EXAMPLES).map(({ src, dst, ports }) => `${src} to ${dst} on ${ports}`);
  return new MeshError(
    code,
    examples.length > 0 ? `${message} For example: ${examples.join('; ')}.` : message,
    details,
    {
      cause,
    },
  );
}

/** The message says the details word for word, so the names go to the same places of it. */
function withOffers(error: MeshError, fields: readonly FieldError[], mayList: () => boolean): MeshError {
  if (fields.every(({ offered }) => offered === undefined)) return error;
  const isTold = mayList();
  let { message } = error;
  const told = isTold ? settledOffers(fields) : fields;
  const errors = told.map(({ offered, ...field }): FieldError => {
    if (typeof offered !== 'string') return field;
    message = message.replace(field.detail, () => offered);
    return { ...field, detail: offered };
  });
  return new MeshError(error.code, message, { ...error.details, errors }, { cause: error });
}

/** Records by name never change, so an index made once holds for as long as its map. */
export const indexOfNames = memoize((records: ReadonlyMap<string, unknown>) => new NameIndex(records.keys()));

/** The names that somebody may have meant, the nearest first: `web1` for `web-1` and `web-12`, `wbe-1` for `web-1`. */
export function nearestOf(given: string, names: Iterable<string> | NameIndex): string[] {
  const wanted = foldName(given);
  const begin = lettersOf(wanted);
  if (begin.length === 0 || begin.length > MAX_COMPARED) return [];
  const index = names instanceof NameIndex ? names : new NameIndex(names);
  const near = index.near(wanted);
  const isNear = new Set(near.map(({ name }) => name));
  const longer = index.beginningWith(wanted).filter((name) => !isNear.has(name));
  const found = [...near, ...longer.map((name) => ({ name, faults: Number.POSITIVE_INFINITY }))];
  return found
    .sort((a, b) => (a.faults === b.faults ? 0 : a.faults - b.faults) || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_OFFERED)
    .map(({ name }) => name);
}
