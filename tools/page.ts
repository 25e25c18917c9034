import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../core/base/text.ts';

/** Records of one page. */
export const MAX_LIMIT = 200;
/** Characters of JSON of one answer, about: a resource alone may have as many as a request body, 200 of them may not. */
export const MAX_PAGE_CHARACTERS = 2_000_000;

/** Query fields of every list. */
export const pageQuery = {
  cursor: lineOfText(TEXT_LIMITS.cursor).optional().describe('next_cursor'),
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(50).describe('Page size'),
};

/** Returns a page of records ordered by name; the cursor is the name of the last record shown. */
export function pageOf<R extends { readonly name: string }, V>(
  records: readonly R[],
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  view: (record: R) => V,
): { items: V[]; next_cursor?: string } {
  const sorted = [...records].sort((a, b) => (a.name < b.name ? -1 : 1));
  const rest = cursor === undefined ? sorted : sorted.filter(({ name }) => name > cursor);
  const items = fitting(rest, limit, view);
  const last = rest.length > items.length ? rest[items.length - 1]?.name : undefined;
  return { items, ...(last !== undefined && { next_cursor: last }) };
}

/** Views of the first records, at most `limit`, that together are no longer than one answer; the first one in any case. */
export function fitting<R, V>(records: readonly R[], limit: number, view: (record: R) => V): V[] {
  const items: V[] = [];
  let length = 0;
  for (const record of records.slice(0, limit)) {
    const item = view(record);
    length += JSON.stringify(item).length;
    if (items.length > 0 && length > MAX_PAGE_CHARACTERS) break;
    items.push(item);
  }
  return items;
}
