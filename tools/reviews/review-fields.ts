import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { ITEM_TYPES, MAX_ITEM_NOTE, REVIEW_KINDS, VERDICTS } from '../../core/compliance/reviews/review-record.ts';

export const reviewId = lineOfText(TEXT_LIMITS.id).describe('Id of the review');
export const reviewKind = z.enum(REVIEW_KINDS);
export const verdict = z.enum(VERDICTS).describe('flagged: it is to be ended');
export const itemNote = lineOfText(MAX_ITEM_NOTE).default('').describe('Why');

export const reviewSchema = z.strictObject({
  id: z.string(),
  kind: reviewKind,
  state: z.enum(['open', 'finished']),
  started_at: z.string(),
  started_by: z.string(),
  revision: z.int().describe('Of the workspace, when the list was made'),
  digest: z.string().describe('SHA-256 of what was looked at; of a finished review with its decisions'),
  items_count: z.int(),
  previous: z.strictObject({ id: z.string(), started_at: z.string() }).nullable(),
  notes: z.array(z.string()).readonly(),
  range: z
    .strictObject({
      from_seq: z.int(),
      to_seq: z.int(),
      root: z.string().describe('Of the log up to to_seq, base64'),
      left: z.int().describe('Entries after it, when the review was started'),
    })
    .nullable(),
  finished: z
    .strictObject({
      at: z.string(),
      by: z.string(),
      note: z.string(),
      alone: z.boolean().describe('Nobody else could have reviewed'),
      confirmed: z.int(),
      flagged: z.int(),
      ended: z.int().describe('Ended before anybody decided'),
      own: z.int().describe('Decided by who holds it'),
    })
    .nullable(),
});

/** Fields of plain text, which differ by type. */
const fields = z.record(z.string(), z.string());

export const reviewItemSchema = z.strictObject({
  id: z.string(),
  type: z.enum(ITEM_TYPES),
  name: z.string(),
  facts: fields.describe('What it is about: with another value it is looked at again'),
  told: fields.describe('What else is known'),
  scopes: z.array(z.string()).readonly(),
  may: z.array(z.string()).readonly().describe('The scopes in words'),
  standing: z.enum(['same', 'changed', 'ended']).describe('Since it was listed'),
  digest: z.string().describe('Of the item as it is shown here, for decide_review_items'),
  decision: z
    .strictObject({
      verdict: z.enum(VERDICTS),
      note: z.string(),
      by: z.string(),
      at: z.string(),
      own: z.boolean().describe('By who holds it'),
    })
    .nullable(),
  in_force: z.boolean().nullable().describe('Of what was flagged: whether it is in force still'),
  end_by: z.strictObject({ operation: z.string(), id: z.string() }).nullable(),
});
