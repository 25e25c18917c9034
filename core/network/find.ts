import { MeshError } from '../errors.ts';
import type { StoredRecord } from '../record.ts';
import { normalizeName } from './resources.ts';

/**
 * The record that an id or a stored name means; names are looked up ignoring case.
 *
 * @throws MeshError `not_found`; for a name with spaces it says which stored name was meant (contract, "Device").
 */
export function findRecord<R extends StoredRecord>(records: ReadonlyMap<string, R>, what: string, idOrName: string): R {
  const found = lookUp(records, idOrName);
  if (found) return found;
  const stored = lookUp(records, normalizeName(idOrName));
  throw new MeshError(
    'not_found',
    stored
      ? `There is no ${what} ${quoted(idOrName)}: names are stored with hyphens for spaces. ${quoted(stored.name)} was meant.`
      : `There is no ${what} ${quoted(idOrName)}.`,
    stored ? { meant: stored.name } : {},
  );
}

export function lookUp<R extends StoredRecord>(records: ReadonlyMap<string, R>, idOrName: string): R | undefined {
  const exact = records.get(idOrName);
  if (exact) return exact;
  const folded = idOrName.toLowerCase();
  for (const record of records.values()) {
    if (record.uid === idOrName || record.name.toLowerCase() === folded) return record;
  }
  return undefined;
}

function quoted(name: string): string {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  return JSON.stringify(shown);
}
