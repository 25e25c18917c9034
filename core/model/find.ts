import type { MeshError } from '../base/errors.ts';
import { foldName, type StoredRecord } from '../base/record.ts';
import { RecordMap } from './record-map.ts';
import { normalizeName } from './resources.ts';
import { indexOfNames, nearestOf, notFound } from './with-nearest.ts';

/**
 * The record that an id or a stored name means; names are looked up ignoring case.
 *
 * @throws MeshError `not_found` with the nearest names; for a name with spaces it says which stored name was meant (docs/policy.md#kinds).
 */
export function findRecord<R extends StoredRecord>(records: ReadonlyMap<string, R>, what: string, idOrName: string): R {
  const found = lookUp(records, idOrName);
  if (found) return found;
  throw notFoundAmong(records, what, idOrName);
}

/** Why nothing is found, with the names that may have been meant. */
export function notFoundAmong<R extends StoredRecord>(
  records: ReadonlyMap<string, R>,
  what: string,
  given: string,
): MeshError {
  const stored = lookUp(records, normalizeName(given));
  if (!stored) return notFound(`There is no ${what} ${quoted(given)}.`, nearestOf(given, indexOfNames(records)));
  const hint = `names are stored with hyphens for spaces. ${quoted(stored.name)} was meant.`;
  return notFound(`There is no ${what} ${quoted(given)}: ${hint}`, [], { meant: stored.name });
}

/** By id, stored name, or name in another case. The id comes first: nobody hides a record behind a name that reads as its id. */
export function lookUp<R extends StoredRecord>(records: ReadonlyMap<string, R>, idOrName: string): R | undefined {
  const found = lookUpById(records, idOrName) ?? records.get(idOrName);
  if (found) return found;
  if (records instanceof RecordMap) return records.byFoldedName(foldName(idOrName));
  return indexOf(records).byFoldedName.get(foldName(idOrName));
}

export function lookUpById<R extends StoredRecord>(records: ReadonlyMap<string, R>, id: string): R | undefined {
  return records instanceof RecordMap ? records.byUid(id) : indexOf(records).byId.get(id);
}

interface Index<R> {
  readonly byId: ReadonlyMap<string, R>;
  readonly byFoldedName: ReadonlyMap<string, R>;
}

/** States never change, so an index made once holds for as long as its map. */
const indexes = new WeakMap<ReadonlyMap<string, StoredRecord>, Index<StoredRecord>>();

function indexOf<R extends StoredRecord>(records: ReadonlyMap<string, R>): Index<R> {
  const known = indexes.get(records);
  if (known) return known as Index<R>;
  const all = [...records.values()];
  const index: Index<R> = {
    byId: new Map(all.map((record) => [record.uid, record])),
    byFoldedName: new Map(all.map((record) => [foldName(record.name), record])),
  };
  indexes.set(records, index);
  return index;
}

export function quoted(name: string): string {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(shown);
}
