import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { TracedCall } from '../../core/model/call-trace.ts';
import { fitting, pageQuery } from '../page.ts';

/** A page of calls, newest first. */
export const callsQuery = {
  ...pageQuery,
  cursor: lineOfText(TEXT_LIMITS.cursor)
    .regex(/^\d{1,16}$/, { error: 'The next_cursor of the page before.' })
    .optional(),
};

export const callColumns = { At: 'at', Operation: 'operation', Outcome: 'outcome', Face: 'face' } as const;

export const callsPage = z.strictObject({
  items: z.array(
    z.strictObject({
      seq: z.int(),
      at: z.string(),
      operation: z.string(),
      face: z.enum(['rest', 'mcp']),
      outcome: z.string().describe('`ok`, `pending_approval`, or the code of the problem'),
      input: z.string().describe('JSON, cut, without secrets'),
      result: z.string().describe('JSON of the answer, or why it was refused; cut, without secrets'),
      requestId: z.string(),
    }),
  ),
  next_cursor: z.string().optional(),
});

/** @param calls newest first */
export function callsPageOf(
  calls: readonly TracedCall[],
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
): z.input<typeof callsPage> {
  const rest = cursor === undefined ? calls : calls.filter(({ seq }) => seq < Number(cursor));
  const items = fitting(rest, limit, (call) => ({ ...call, at: formatInstant(call.at) }));
  const last = rest.length > items.length ? items.at(-1)?.seq : undefined;
  return { items, ...(last !== undefined && { next_cursor: String(last) }) };
}
