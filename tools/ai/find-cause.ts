import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { findCause as find } from '../../core/cause/find-cause.ts';
import { groupQuery, pairQuery, withProtocol } from '../connectivity/connectivity-fields.ts';
import { defineHeavyOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { instant } from '../snapshots/snapshot-fields.ts';

/** Findings of one page: each may be some kilobytes. */
const MAX_FINDINGS = 50;

/** As docs/history.md#what-broke-it tells; here what a caller goes on with. */
const finding = z.looseObject({
  at: z.string(),
  sentence: z.string(),
  restore: z.looseObject({ plan_id: z.string() }).nullable(),
  no_restore: z.string().nullable(),
});

export const findCause = defineHeavyOperation({
  name: 'find_cause',
  title: 'Find a cause',
  description:
    'Since when a peer can or cannot reach another, who changed it or a resource, and a plan that is checked to undo it. In words, or src and dst.',
  input: z.strictObject({
    question: lineOfText(TEXT_LIMITS.note).min(1).optional().describe('In words'),
    ...pairQuery,
    src: groupQuery.src.describe('Peer, label or outside'),
    dst: groupQuery.dst,
    from: instant.optional().describe('None: 30 days back'),
    to: instant.optional(),
    cursor: pageQuery.cursor,
    limit: z.coerce.number().int().min(1).max(MAX_FINDINGS).default(10),
  }),
  output: z.strictObject({
    reading: z.string(),
    asked: z.looseObject({}),
    was: z.looseObject({}),
    summary: z.string(),
    finding_count: z.int(),
    findings: z.array(finding),
    next: z
      .strictObject({ tool: z.string(), arguments: z.looseObject({}) })
      .optional()
      .describe('The call that answers this question'),
    next_cursor: z.string().optional(),
  }),
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  // It may keep a plan; nothing else is written.
  effects: CREATE,
  cost: 'heavy',
  whenFull: 'works',
  problems: ['invalid_input', 'not_found', 'expired', 'intent_not_understood', 'unavailable'],
  http: { method: 'post', path: '/api/v1/ai/find-cause' },
  run: (asked, context) => find(context, withProtocol(asked)),
});
