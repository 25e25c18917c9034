import type { Part, Rows } from './contents.ts';

/** Rows written at once. */
const PAGE_ROWS = 500;
/** Entries and bodies take most of it; an entry alone may have more. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** Rows in pages that a store takes at once. */
export async function* pagesOf<P extends Part>(
  rows: Iterable<Rows[P]> | AsyncIterable<Rows[P]>,
): AsyncGenerator<Rows[P][]> {
  let page: Rows[P][] = [];
  let bytes = 0;
  for await (const row of rows) {
    page.push(row);
    bytes += sizeOf(row);
    if (page.length < PAGE_ROWS && bytes < PAGE_BYTES) continue;
    yield page;
    page = [];
    bytes = 0;
  }
  if (page.length > 0) yield page;
}

function sizeOf(row: Rows[Part]): number {
  if ('entry' in row) return row.entry.length;
  return 'body' in row ? (row.body?.length ?? 0) : 0;
}
