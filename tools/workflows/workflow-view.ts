import { z } from 'zod';
import { jsonValue } from '../../core/base/json-value.ts';
import { formatInstant } from '../../core/base/time.ts';
import { orderInputsOf } from '../../core/intent/orders/order-view.ts';
import { readByOf, storedCheck } from '../../core/intent/plan/check.ts';
import { MAX_RENAMES } from '../../core/model/renames.ts';
import { WORKFLOW_STATES, type WorkflowRecord } from '../../core/model/workflow-records.ts';
import { approvalUrl } from '../../core/workflow/approval-url.ts';
import { blockersOf } from '../../core/workflow/blockers.ts';
import { concernedPeers, concernedPeersMarkdown, MAX_CONCERNED_PEERS } from '../../core/workflow/concerned-peers.ts';
import type { Services } from '../../core/workflow/services.ts';
import { resultRevision } from '../../core/workflow/workflow-record.ts';
import {
  changeSchema,
  check,
  effectSchema,
  expectationsHold,
  orders,
  readBy,
  riskLevel,
} from '../intents/plan-view.ts';

const workflowFields = {
  id: z.string(),
  status: z.enum(WORKFLOW_STATES),
  summary: z.string(),
  riskLevel,
  requestedBy: z.string(),
  requestedAt: z.string(),
  reviewedBy: z.string().nullable(),
  reviewedAt: z.string().nullable(),
  note: z.string().nullable(),
  selfApproved: z.boolean(),
  auto_approve: z.boolean(),
  planId: z.string().nullable(),
  baseRevision: z.int(),
  resultRevision: z.int().nullable(),
  error: z.string().nullable(),
  expiresAt: z.string(),
};

export const workflowSchema = z.strictObject(workflowFields);

export const workflowDetailSchema = z.strictObject({
  ...workflowFields,
  intent: z.string(),
  orders,
  read_by: readBy
    .nullable()
    .describe('Who turned the intent into the change; null where an earlier version did not keep it'),
  reading: z.string().nullable().describe('What they say of it, not checked'),
  appliedBy: z.string(),
  approvalAskedOf: z.string().nullable(),
  check: check.describe('When it was put forward: the effect against what the built-in reader derived from the intent'),
  expectations_hold: expectationsHold,
  objections: z.array(z.string()).describe('What speaks against it'),
  overridden: z.boolean().describe('Put forward although it does not do what was asked, by someone who may'),
  riskReasons: z.array(z.string()),
  warnings: z.array(z.string()),
  changes: z.array(changeSchema),
  call: z
    .strictObject({ operation: z.string(), input: z.record(z.string(), jsonValue) })
    .nullable()
    .describe('Of a call that waits: what is carried out, secrets left out'),
  awaits: z
    .string()
    .nullable()
    .describe('Of a call that waits: what else it takes, such as the people of another workspace'),
  effect: effectSchema,
  peers: z
    .array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        publicKey: z.string(),
        createdAt: z.string(),
        renames: z
          .array(z.string())
          .max(MAX_RENAMES)
          .describe('Names that it had in the last 30 days, each until when'),
      }),
    )
    .max(MAX_CONCERNED_PEERS)
    .describe('Peers that the change writes, lists or connects, as they are now; renamed ones first'),
  diffMarkdown: z.string(),
  approvalUrl: z.string(),
});

export function workflowView(record: WorkflowRecord): z.input<typeof workflowSchema> {
  const { name, spec, status, createdAt } = record;
  return {
    id: name,
    status: status.state,
    summary: spec.summary,
    riskLevel: spec.riskLevel,
    requestedBy: spec.requestedBy,
    requestedAt: formatInstant(createdAt),
    reviewedBy: status.reviewedBy ?? null,
    reviewedAt: status.reviewedAt ?? null,
    note: status.note ?? null,
    selfApproved: status.selfApproved ?? false,
    auto_approve: spec.autoApprove,
    planId: spec.planId ?? null,
    baseRevision: spec.baseRevision,
    resultRevision: resultRevision(record) ?? null,
    error: status.error ?? null,
    expiresAt: formatInstant(spec.expiresAt),
  };
}

export async function workflowDetailView(
  record: WorkflowRecord,
  services: Pick<Services, 'settings' | 'store' | 'clock' | 'states'>,
): Promise<z.input<typeof workflowDetailSchema>> {
  const { spec, name } = record;
  const state = await services.states.current(record.workspace);
  const concerned = concernedPeers(record, state, services.clock.now());
  return {
    ...workflowView(record),
    intent: spec.intent,
    ...(spec.orders?.length && { orders: orderInputsOf(spec.orders, state) }),
    read_by: readByOf(spec) ?? null,
    reading: spec.sentence ?? null,
    appliedBy: spec.appliedBy,
    approvalAskedOf: spec.approvalAskedOf ?? null,
    check: storedCheck(spec),
    expectations_hold: spec.expectationsHold ?? null,
    objections: [...(spec.objections ?? [])],
    overridden: spec.overridden,
    riskReasons: [...spec.riskReasons],
    warnings: [...spec.warnings],
    changes: [...spec.shown],
    call: spec.call ? { operation: spec.call.operation, input: { ...spec.call.asked } } : null,
    awaits: (await blockersOf(services, record)) ?? null,
    effect: spec.effect,
    peers: concerned.peers.map(({ renames, ...peer }) => ({ ...peer, renames: [...renames] })),
    diffMarkdown: spec.diffMarkdown + concernedPeersMarkdown(concerned),
    approvalUrl: approvalUrl(services, name),
  };
}

/** Said in the Markdown; once it is decided, what would be done is no question any more. */
export function briefWorkflow(workflow: z.output<typeof workflowDetailSchema>): Record<string, unknown> {
  const { changes, effect, riskReasons, warnings, objections, diffMarkdown, peers, ...fields } = workflow;
  const { opened: _opened, closed: _closed, ...counts } = effect;
  const names = changes.map(({ action, resource, name }) => ({ action, resource, name }));
  return fields.status === 'pending'
    ? { ...fields, effect: counts, diffMarkdown }
    : { ...fields, objections, riskReasons, warnings, changes: names, effect: counts };
}
