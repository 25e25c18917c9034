import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { findCause as find } from '../../core/cause/find-cause.ts';
import { allowedPorts, pairQuery, withProtocol } from '../connectivity/connectivity-fields.ts';
import { changeSchema } from '../connectivity/history-fields.ts';
import { defineHeavyOperation } from '../define.ts';
import { riskLevel } from '../intents/plan-view.ts';
import { pageQuery } from '../page.ts';
import { instant } from '../snapshots/snapshot-fields.ts';

const DAY_MS = 24 * 3_600_000;
/** How far back a question without a begin looks. */
const DEFAULT_RANGE_MS = 30 * DAY_MS;
/** Findings of one page: each may be some kilobytes. */
const MAX_FINDINGS = 50;

const reading = z
  .strictObject({ verdict: z.string(), allowed: allowedPorts, usable: z.boolean().describe('And both ends online') })
  .meta({ id: 'Reading' });

const finding = z.strictObject({
  rank: z.int(),
  at: z.string(),
  before: reading,
  after: reading.extend({ blocked_by: z.array(z.looseObject({})).readonly() }),
  causes: z.array(z.strictObject({ cause: z.string(), kind: z.string(), name: z.string() })),
  change: changeSchema.nullable().describe('None where time alone did it'),
  sentence: z.string(),
  restore: z
    .strictObject({
      plan_id: z.string().describe('For apply_network_change'),
      summary: z.string(),
      risk_level: riskLevel,
      verified: z.boolean(),
      changes: z.array(z.strictObject({ action: z.string(), resource: z.string(), name: z.string() })),
      warnings: z.array(z.string()),
      expires_at: z.string(),
    })
    .nullable(),
  no_restore: z.string().nullable().describe('Why there is no plan'),
});

export const findCause = defineHeavyOperation({
  name: 'find_cause',
  title: 'Find what changed a connection',
  description:
    'Since when can or can a peer not reach another, and why: every flip of a connection in a range, who made and approved it, and a proven plan that takes it back. Ask in words or name src and dst.',
  input: z.strictObject({
    question: lineOfText(TEXT_LIMITS.note).min(1).optional().describe("Such as: why can't web-1 reach db-1 on 5432?"),
    ...pairQuery,
    src: pairQuery.src.optional(),
    dst: pairQuery.dst.optional(),
    from: instant.optional().describe('None: 30 days back'),
    to: instant.optional(),
    cursor: pageQuery.cursor,
    limit: z.coerce.number().int().min(1).max(MAX_FINDINGS).default(10),
  }),
  output: z.strictObject({
    reading: z.string().describe('What was understood'),
    src: z.string(),
    dst: z.string(),
    protocol: z.string().nullable(),
    port: z.int().nullable(),
    from: z.string(),
    to: z.string(),
    known_since: z.string(),
    gap: z.enum(['NO_SNAPSHOT', 'SNAPSHOT_GAP']).nullable(),
    at_begin: reading,
    at_end: reading,
    now: reading,
    summary: z.string(),
    finding_count: z.int(),
    findings: z.array(finding),
    next_cursor: z.string().optional(),
  }),
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  // It may keep a plan; nothing else is written.
  effects: CREATE,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired', 'intent_not_understood', 'unavailable'],
  http: { method: 'post', path: '/api/v1/ai/find-cause' },
  run: ({ from, ...asked }, context) => {
    const begin = from ?? formatInstant(context.services.clock.now() - DEFAULT_RANGE_MS);
    return find(context, { ...withProtocol(asked), from: begin });
  },
});
