import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { finishReview as finish } from '../../core/compliance/reviews/decide-items.ts';
import { reviewView } from '../../core/compliance/reviews/review-views.ts';
import { defineHeavyOperation } from '../define.ts';
import { reviewId, reviewSchema } from './review-fields.ts';

export const finishReview = defineHeavyOperation({
  name: 'finish_review',
  title: 'Finish a review',
  description:
    'Finishes a review of which every item is decided. Nothing of it changes any more. Only a logged-in person may.',
  input: z.strictObject({
    id: reviewId,
    note: lineOfText(TEXT_LIMITS.note).default('').describe('What is to be said of the whole'),
  }),
  output: reviewSchema,
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: UPDATE,
  cost: 'heavy',
  problems: ['invalid_input', 'forbidden', 'not_found', 'conflict', 'payload_too_large'],
  http: { method: 'post', path: '/api/v1/ai/compliance/reviews/:id/finish' },
  async run({ id, note }, context) {
    return reviewView(await finish(id, note, context));
  },
});
