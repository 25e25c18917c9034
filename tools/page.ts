import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../core/text.ts';

const MAX_LIMIT = 200;

/** Query fields of every list (DESIGN section 6). */
export const pageQuery = {
  cursor: lineOfText(TEXT_LIMITS.cursor).optional().describe('next_cursor of the page before'),
  limit: z.coerce.number().int().min(1).max(MAX_LIMIT).default(50),
};

/** One page of records in the order of their names; the cursor is the name of the last one shown. */
export function pageOf<R extends { readonly name: string }, V>(
  records: readonly R[],
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  view: (record: R) => V,
): { items: V[]; next_cursor?: string } {
  const sorted = [...records].sort((a, b) => (a.name < b.name ? -1 : 1));
  const rest = cursor === undefined ? sorted : sorted.filter(({ name }) => name > cursor);
  const shown = rest.slice(0, limit);
  const last = rest.length > limit ? shown.at(-1)?.name : undefined;
  return { items: shown.map(view), ...(last !== undefined && { next_cursor: last }) };
}
