import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import { listOf } from '../../core/base/list.ts';
import { UPDATE } from '../../core/base/operation.ts';
import { requireSession } from '../../core/base/require-session.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { decideItems } from '../../core/compliance/reviews/decide-items.ts';
import { defineHeavyOperation } from '../define.ts';
import { itemNote, reviewId, verdict } from './review-fields.ts';

/** Items named in one call; all that nobody decided are confirmed at once by `confirm_rest`. */
export const MAX_NAMED = 200;

export const decideReviewItems = defineHeavyOperation({
  name: 'decide_review_items',
  title: 'Decide items of a review',
  description:
    'Confirms items of an open review or flags them to be ended; ending them is for the usual operations. What you hold yourself is confirmed by another person, while there is one who may. Only a logged-in person may.',
  input: z.strictObject({
    id: reviewId,
    items: listOf(
      z.strictObject({
        item: lineOfText(TEXT_LIMITS.reference).describe('Id of the item'),
        verdict,
        note: itemNote,
        digest: lineOfText(TEXT_LIMITS.id)
          .optional()
          .describe('That of the item as it was shown: needed where it has changed'),
      }),
      MAX_NAMED,
    )
      .min(1)
      .optional(),
    confirm_rest: z.literal(true).optional().describe('Confirms all that nobody decided and that has not changed'),
    note: itemNote.describe('Why, with confirm_rest'),
  }),
  output: z.strictObject({
    decided: z.int(),
    undecided: z.int().describe('To be looked at yet, in the whole review'),
    changed: z.int().describe('Passed over by confirm_rest: changed since they were listed'),
    held_by_caller: z.int().describe('Passed over by confirm_rest: another person confirms them'),
  }),
  access: 'compliance:assess',
  workspace: 'scoped',
  edition: 'pro',
  effects: UPDATE,
  cost: 'heavy',
  problems: ['invalid_input', 'forbidden', 'not_found', 'conflict', 'payload_too_large'],
  http: { method: 'post', path: '/api/v1/ai/compliance/reviews/:id/decisions' },
  async run({ id, items, confirm_rest: rest, note }, context) {
    requireSession(context.caller);
    if ((items === undefined) === (rest === undefined)) {
      const detail = 'Give items or confirm_rest, one of the two.';
      throw invalidInput([{ pointer: '/items', detail }], detail);
    }
    const bare = (items ?? []).findIndex((item) => item.verdict === 'flagged' && item.note.trim() === '');
    if (bare >= 0) {
      const detail = 'Say why it is flagged.';
      throw invalidInput([{ pointer: `/items/${bare}/note`, detail }], detail);
    }
    return decideItems(id, items ? { items } : { allConfirmed: true, note }, context);
  },
});
