import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { reviewView } from '../../core/compliance/reviews/review-views.ts';
import { startReview as start } from '../../core/compliance/reviews/start-review.ts';
import { defineHeavyOperation } from '../define.ts';
import { reviewKind, reviewSchema } from './review-fields.ts';

const seq = z.int().min(0).optional();

export const startReview = defineHeavyOperation({
  name: 'start_review',
  title: 'Start a review',
  description:
    'Lists who holds what access, the policies in force, or what the audit log has, for a person to confirm or flag each. One review of a kind is open at a time. Only a logged-in person may.',
  input: z.strictObject({
    kind: reviewKind,
    from_seq: seq.describe('Of activity: the first entry. None: after those reviewed before'),
    to_seq: seq.describe('Of activity: the last entry. None: the newest'),
  }),
  output: reviewSchema,
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: CREATE,
  cost: 'heavy',
  problems: ['invalid_input', 'forbidden', 'conflict', 'payload_too_large'],
  http: { method: 'post', path: '/api/v1/ai/compliance/reviews', status: 201 },
  async run({ kind, from_seq: from, to_seq: to }, context) {
    return reviewView(await start({ kind, from, to }, context));
  },
});
