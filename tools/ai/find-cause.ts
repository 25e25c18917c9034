import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { allowedSchema, blockerSchema } from '../../core/reachability/answers.ts';
import { groupQuery, pairQuery, withProtocol } from '../connectivity/connectivity-fields.ts';
import { defineHeavyOperation } from '../define.ts';
import { changeSchema as changeShape, riskLevel } from '../intents/plan-view.ts';
import { pageQuery } from '../page.ts';
import { causeSchema, changedPathSchema, changeSchema, readingSchema } from '../snapshots/commit-fields.ts';
import { instant } from '../snapshots/snapshot-fields.ts';

/** Findings of one page: each may be some kilobytes. */
const MAX_FINDINGS = 50;

const names = z.array(z.string());

/** A plan that brings back what a finding took away (docs/history.md#what-broke-it). */
const restore = z.strictObject({
  plan_id: z.string(),
  summary: z.string(),
  risk_level: riskLevel,
  verified: z.boolean(),
  effect: z.string(),
  changes: z.array(changeShape.pick({ action: true, resource: true, name: true })),
  beyond: z.string().nullable().describe('Changes beyond the cause; effect covers all of them'),
  warnings: names,
  expires_at: z.string(),
});

const finding = z.strictObject({
  rank: z.int(),
  at: z.string(),
  connections: z.strictObject({ count: z.int(), src: names, dst: names }).optional(),
  before: readingSchema.optional(),
  after: readingSchema.extend({ blocked_by: z.array(blockerSchema) }).optional(),
  causes: z.array(causeSchema).optional(),
  change: changeSchema
    .extend({
      changed: z.array(
        z.strictObject({
          type: z.enum(['created', 'updated', 'deleted']),
          kind: z.string(),
          name: z.string(),
          paths: z.array(changedPathSchema),
        }),
      ),
    })
    .nullable(),
  sentence: z.string(),
  restore: restore.nullable(),
  no_restore: z.string().nullable(),
});

/** The verdict for one connection, or the number of usable ones among several. */
const sharedReading = readingSchema.extend({ allowed: allowedSchema.optional() }).extend({
  connections: z
    .strictObject({ reachable: z.int(), unreachable: z.int(), partial: z.int(), usable: z.int() })
    .optional(),
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
    to: instant.optional().describe('None: now'),
    cursor: pageQuery.cursor,
    limit: z.coerce.number().int().min(1).max(MAX_FINDINGS).default(10).describe('Page size'),
  }),
  output: z.strictObject({
    reading: z.string(),
    asked: z.strictObject({
      src: z.string().nullable(),
      dst: z.string().nullable(),
      protocol: z.string().nullable(),
      port: z.int().nullable(),
      from: z.string(),
      to: z.string(),
      known_since: z.string(),
      gap: z.string().nullable(),
      note: z.string().optional(),
      connections: z.int().optional(),
      actor: z.string().optional(),
      uid: z.string().optional(),
      kind: z.string().optional(),
      name: z.string().optional(),
      aspect: z.string().optional(),
    }),
    was: z.strictObject({
      begin: sharedReading.optional(),
      end: sharedReading.optional(),
      now: sharedReading.optional(),
      until: z.string().nullable().optional(),
    }),
    summary: z.string(),
    finding_count: z.int(),
    findings: z.array(finding),
    next: z
      .strictObject({ tool: z.string(), arguments: z.record(z.string(), z.union([z.string(), z.int()])) })
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
  run: async (asked, context) =>
    (await import('../../core/cause/find-cause.ts')).findCause(context, withProtocol(asked)),
});
