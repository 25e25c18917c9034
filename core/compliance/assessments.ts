import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import type { Kind } from '../base/record.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import { snapshotNameAt } from '../history/snapshot-record.ts';
import type { NetworkServices, ThreadServices } from '../state/services.ts';
import { assessPeriod } from './assess.ts';
import { type AssessmentFields, type AssessmentRecord, assessmentDrafts, pageName } from './assessment-record.ts';
import type { ControlResult, ControlStatus } from './control-result.ts';
import { driftDraft, driftEvents, driftedControls, previousAssessment } from './drift.ts';
import { type Framework, frameworkOf } from './frameworks.ts';
import { RETENTION_MS } from './retention.ts';
import { type ScanPage, scanRecords } from './scan.ts';

type StoreServices = Pick<NetworkServices, 'store'>;

/** An assessment as answers show it: the fields of the contract, and what it rests on. */
export interface AssessmentAnswer extends AssessmentRow {
  readonly controls: readonly ControlResult[];
  readonly scope: string;
  readonly gaps: readonly string[];
  readonly states_evaluated: number;
}

/** Without its controls, as a list shows it. */
export interface AssessmentRow {
  /** As the caller wrote it. */
  readonly framework: string;
  readonly canonical_framework: Framework;
  readonly generated_at: string;
  readonly generated_by: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly score: number;
  readonly status: 'pass' | 'fail' | 'partial';
  readonly summary: string;
  readonly evidence_id: string;
}

export interface AssessmentRequest {
  readonly framework: string;
  readonly period_start: string;
  /** None: now. */
  readonly period_end?: string | undefined;
}

/** Judges a period, and keeps what was found. @throws MeshError as `frameworkOf` and `assessPeriod` do */
export async function assessAndKeep(
  context: CallContext<Pick<ThreadServices, 'store' | 'states' | 'clock' | 'settings' | 'logs'>>,
  { framework: asked, period_start: from, period_end }: AssessmentRequest,
): Promise<AssessmentAnswer> {
  const { services, workspace, caller } = context;
  const framework = frameworkOf(asked);
  const to = period_end ?? formatInstant(services.clock.now());
  const assessed = await assessPeriod(services, workspace, { framework, from, to });
  const fields = {
    ...assessed,
    framework,
    asked,
    from: parseInstant(from),
    generatedAt: services.clock.now(),
    generatedBy: caller.subject,
  };
  return keepAssessment(services, workspace, fields, commitContext(context, `assessed ${framework}`));
}

/** Keeps what was found, and tells what the assessment before found otherwise. */
export async function keepAssessment(
  services: StoreServices,
  workspace: string,
  fields: AssessmentFields,
  context: CommitContext,
): Promise<AssessmentAnswer> {
  const previous = await previousAssessment(services, workspace, fields);
  const drafts = assessmentDrafts(fields);
  const [{ uid, spec }] = drafts;
  const controls = previous ? driftedControls(previous.spec, fields.controls) : [];
  const ops = drafts.map((record): Op => ({ op: 'create', record }));
  if (!previous || controls.length === 0) {
    await services.store.commit(workspace, ops, context);
    return answerOf({ uid, spec }, fields.controls);
  }
  const { framework, generatedAt: at } = fields;
  const drift = { framework, evidenceId: uid, previousId: previous.uid, at, controls };
  await services.store.commit(workspace, [...ops, { op: 'create', record: driftDraft(drift) }], {
    ...context,
    securityEvents: driftEvents(drift, context.actor),
  });
  return answerOf({ uid, spec }, fields.controls);
}

/** A stored one by its evidence_id. @throws MeshError `not_found` */
export async function getAssessment(services: StoreServices, workspace: string, id: string): Promise<AssessmentAnswer> {
  const record = await assessmentById(services, workspace, id);
  const pages = Array.from({ length: record.spec.pages }, (_, index) =>
    services.store.get(workspace, { kind: 'AssessmentPage', name: pageName(record.uid, index) }),
  );
  const text = (await Promise.all(pages)).map((page) => page?.spec.text ?? '').join('');
  return answerOf(record, JSON.parse(text) as ControlResult[]);
}

/** @throws MeshError `not_found` */
export async function assessmentById(
  { store }: StoreServices,
  workspace: string,
  id: string,
): Promise<AssessmentRecord> {
  const record = await store.getById(workspace, 'Assessment', id);
  if (record) return record;
  throw new MeshError('not_found', `There is no assessment ${id} in this workspace: list_assessments shows them.`);
}

/** Newest first; of one framework where one is named. */
export async function listAssessments(
  { store }: StoreServices,
  workspace: string,
  { framework, cursor, limit }: { framework?: string | undefined; cursor?: string | undefined; limit: number },
): Promise<ScanPage<AssessmentRow>> {
  const wanted = framework === undefined ? undefined : frameworkOf(framework);
  return scanRecords({ store }, workspace, 'Assessment', { cursor, limit }, (record) =>
    wanted === undefined || record.spec.framework === wanted ? rowOf(record) : undefined,
  );
}

/** A control that another assessment judged otherwise. */
export interface ControlFlip {
  readonly id: string;
  /** Null where the other assessment did not know the control. */
  readonly from: ControlStatus | null;
  readonly to: ControlStatus | null;
}

/** Returns the differences between two assessments of one framework. @throws MeshError `not_found`, `invalid_input` */
export async function compareAssessments(services: StoreServices, workspace: string, from: string, to: string) {
  const [before, after] = await Promise.all([from, to].map((id) => assessmentById(services, workspace, id)));
  if (!before || !after || before.spec.framework !== after.spec.framework) {
    const detail = `These are of ${before?.spec.framework} and ${after?.spec.framework}: compare two of one framework.`;
    throw invalidInput([{ pointer: '/later', detail }], `/later: ${detail}`);
  }
  const [old, now] = [before.spec.statuses, after.spec.statuses];
  const ids = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  const flips = ids.flatMap((id): ControlFlip[] => {
    const [was = null, is = null] = [old[id], now[id]];
    return was === is ? [] : [{ id, from: was, to: is }];
  });
  return {
    from: rowOf(before),
    to: rowOf(after),
    score_change: after.spec.score - before.spec.score,
    controls: flips,
    unchanged_count: ids.length - flips.length,
  };
}

/** Assessments deleted in one commit, with their pages. */
const BATCH = 50;

/** Deletes assessments that are older than they are kept. @returns how many */
export async function removeOldAssessments(
  { store, clock }: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
): Promise<number> {
  const after = snapshotNameAt(clock.now() - RETENTION_MS - 1);
  const context: CommitContext = {
    actor: 'system:retention',
    reason: 'assessments past their time',
    requestId: newId('r'),
  };
  for (let removed = 0; ; ) {
    const { items } = await store.list(workspace, 'Assessment', { after, limit: BATCH });
    const drift = await store.list(workspace, 'ComplianceDrift', { after, limit: BATCH });
    const ops = [...items.flatMap(deletions), ...drift.items.map(({ kind, name }) => deletion(kind, name))];
    if (ops.length === 0) return removed;
    await store.commit(workspace, ops, context);
    removed += items.length;
  }
}

function deletions({ kind, name, uid, spec }: AssessmentRecord): Op[] {
  const pages = Array.from({ length: spec.pages }, (_, index) => deletion('AssessmentPage', pageName(uid, index)));
  return [...pages, deletion(kind, name)];
}

function deletion(kind: Kind, name: string): Op {
  return { op: 'delete', key: { kind, name } };
}

function answerOf(
  record: Pick<AssessmentRecord, 'uid' | 'spec'>,
  controls: readonly ControlResult[],
): AssessmentAnswer {
  const { scope, gaps, states } = record.spec;
  return { ...rowOf(record), controls, scope, gaps, states_evaluated: states };
}

function rowOf({ uid, spec }: Pick<AssessmentRecord, 'uid' | 'spec'>): AssessmentRow {
  return {
    framework: spec.asked,
    canonical_framework: spec.framework,
    generated_at: formatInstant(spec.generatedAt),
    generated_by: spec.generatedBy,
    period_start: formatInstant(spec.from),
    period_end: formatInstant(spec.to),
    score: spec.score,
    status: spec.status,
    summary: spec.summary,
    evidence_id: uid,
  };
}
