import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { dueReviews } from '../../core/compliance/reviews/find-reviews.ts';
import { reviewView } from '../../core/compliance/reviews/review-views.ts';
import { requireWholeLog } from '../../core/identity/audit-reach.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { reviewKind, reviewSchema } from './review-fields.ts';

export const listReviews = defineOperation({
  name: 'list_reviews',
  title: 'List reviews',
  description: 'Reviews of access, policies and activity, newest first, and when the next of each kind is due.',
  input: z.strictObject({ kind: reviewKind.optional(), ...pageQuery }),
  output: z.strictObject({
    items: z.array(reviewSchema),
    due: z
      .array(
        z.strictObject({
          kind: reviewKind,
          due_at: z.string(),
          overdue: z.boolean(),
          reminders: z.boolean().describe('Whether review.due is told'),
          last_id: z.string().nullable().describe('Finished last'),
          open_id: z.string().nullable(),
        }),
      )
      .max(3),
    next_cursor: z.string().optional(),
  }),
  columns: {
    Id: 'id',
    Kind: 'kind',
    State: 'state',
    Started: 'started_at',
    By: 'started_by',
    Items: 'items_count',
    Finished: 'finished.at',
    Flagged: 'finished.flagged',
  },
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  problems: ['invalid_input', 'not_found', 'beyond_delegation'],
  http: { method: 'get', path: '/api/v1/ai/compliance/reviews' },
  async run({ kind, ...query }, context) {
    await requireWholeLog(context);
    const { services, workspace } = context;
    const { items } = await services.store.list(workspace, 'Review');
    const due = await dueReviews(services, workspace);
    const now = services.clock.now();
    return {
      ...pageOf(kind === undefined ? items : items.filter(({ spec }) => spec.review === kind), query, reviewView),
      due: due.map(({ kind: of, dueAt, last, open, isTold }) => ({
        kind: of,
        due_at: formatInstant(dueAt),
        overdue: dueAt <= now,
        reminders: isTold,
        last_id: last?.uid ?? null,
        open_id: open?.uid ?? null,
      })),
    };
  },
});
