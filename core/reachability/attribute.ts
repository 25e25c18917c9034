import { LRUCache } from 'lru-cache';

/** The causes of a row: each of them, taken back alone, takes the row back; or, if `together`, only all of them together do. */
export interface Attribution {
  readonly causes: readonly string[];
  readonly together: boolean;
}

/** Tells of each row whether it is gone once these changes are taken back. Costs one compilation, whatever the rows. */
export type Trial<Row> = (undone: ReadonlySet<string>) => (row: Row) => boolean;

/** Compilations spent on rows that no single change takes back; sets found after that are right, not the smallest. */
const MAX_TRIALS = 600;
/** Rows are often of few kinds, whose searches begin alike. */
const MAX_CACHED_TRIALS = 32;

/**
 * The changes behind rows of a difference. To take back all of the changes takes back every row.
 *
 * Example: `in` lets the web into the db, `out` lets the web out, `far` concerns others; before, both were isolated. Each of
 * `in` and `out` taken back closes web to db: both are causes, each alone. Had `in` and `again` both let the web in, neither
 * alone would close it: of all three, `far` can be left out, then neither of the others, so they are causes together.
 */
export function attribute<Row>(
  rows: readonly Row[],
  changes: readonly string[],
  trial: Trial<Row>,
): ReadonlyMap<Row, Attribution> {
  const found = new Map<Row, Attribution>();
  if (changes.length <= 1) return new Map(rows.map((row) => [row, { causes: changes, together: false }]));
  for (const change of rows.length === 0 ? [] : changes) {
    const isGone = trial(new Set([change]));
    for (const row of rows) {
      if (!isGone(row)) continue;
      found.set(row, { causes: [...(found.get(row)?.causes ?? []), change], together: false });
    }
  }
  let left = rows.filter((row) => !found.has(row));
  const search = searchOf(changes, trial);
  for (let [row] = left; row !== undefined; [row] = left) {
    const causes = search.smallest(row);
    const isSame = search.sameFor(causes);
    const own = left.filter((other) => other === row || isSame(other));
    for (const other of own) found.set(other, { causes, together: true });
    left = left.filter((other) => !found.has(other));
  }
  return found;
}

function searchOf<Row>(all: readonly string[], trial: Trial<Row>) {
  const tried = new LRUCache<string, (row: Row) => boolean>({ max: MAX_CACHED_TRIALS });
  let trials = 0;
  const without = (changes: readonly string[]) => {
    const key = JSON.stringify(changes);
    const known = tried.get(key);
    if (known) return known;
    trials += 1;
    const isGone = trial(new Set(changes));
    tried.set(key, isGone);
    return isGone;
  };
  const isSpent = () => trials >= MAX_TRIALS;
  return {
    /** Changes of which none can be left out: first halves are tried, then smaller parts, at last each one. */
    smallest(row: Row): readonly string[] {
      let kept = all;
      for (let size = Math.ceil(kept.length / 2); ; size = Math.ceil(size / 2)) {
        const before = kept.length;
        for (let from = 0; from < kept.length && !isSpent(); ) {
          const fewer = kept.toSpliced(from, size);
          if (fewer.length > 0 && without(fewer)(row)) kept = fewer;
          else from += size;
        }
        if (isSpent() || (size === 1 && kept.length === before)) return kept;
      }
    },
    /**
     * Returns a test for other rows: true if the same changes take back that row too, and none of them can be left out there.
     */
    sameFor(causes: readonly string[]): (row: Row) => boolean {
      if (isSpent()) return () => causes.length === all.length;
      const isGone = without(causes);
      const fewer = causes.map((_, index) => without(causes.toSpliced(index, 1)));
      return (row) => isGone(row) && !fewer.some((isGoneToo) => isGoneToo(row));
    },
  };
}
