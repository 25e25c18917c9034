import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { ITEM_FILTERS, showReview } from '../../core/compliance/reviews/review-views.ts';
import { requireWholeLog } from '../../core/identity/audit-reach.ts';
import { defineHeavyOperation } from '../define.ts';
import { fitting, pageQuery } from '../page.ts';
import { reviewId, reviewItemSchema, reviewSchema } from './review-fields.ts';

export const getReview = defineHeavyOperation({
  name: 'get_review',
  title: 'Show a review',
  description:
    'A review with its items: what was decided of each, what changed since, and whether what was flagged has ended.',
  input: z.strictObject({
    id: reviewId,
    show: z.enum(ITEM_FILTERS).default('all').describe('open: to be looked at yet'),
    ...pageQuery,
    cursor: lineOfText(TEXT_LIMITS.cursor)
      .regex(/^\d{1,9}$/, { error: 'The next_cursor of the page before.' })
      .optional(),
  }),
  output: reviewSchema.extend({
    open_count: z.int().describe('Items to be looked at yet'),
    flagged_in_force: z.int().describe('Flagged and not ended'),
    new_since: z.int().describe('Holders who came since the list was made: they are for the next review'),
    items: z.array(reviewItemSchema),
    next_cursor: z.string().optional(),
  }),
  columns: {
    Id: 'id',
    Type: 'type',
    Name: 'name',
    Verdict: 'decision.verdict',
    Now: 'standing',
    Note: 'decision.note',
  },
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'beyond_delegation'],
  http: { method: 'get', path: '/api/v1/ai/compliance/reviews/:id' },
  async run({ id, show, cursor, limit }, context) {
    await requireWholeLog(context);
    const { review, open, flagged_in_force, new_since, items, viewOf } = await showReview(
      context.services,
      context.workspace,
      id,
      show,
    );
    const after = cursor === undefined ? -1 : Number(cursor);
    const rest = items.filter(({ place }) => place > after);
    const page = fitting(rest, limit, ({ item }) => viewOf(item));
    const last = rest.length > page.length ? rest[page.length - 1]?.place : undefined;
    return {
      ...review,
      open_count: open,
      flagged_in_force,
      new_since,
      items: page.map((item) => ({ ...item, type: item.type as z.input<typeof reviewItemSchema>['type'] })),
      ...(last !== undefined && { next_cursor: String(last) }),
    };
  },
});
