import { newId } from '../base/ids.ts';
import type { SecurityEvent } from '../base/ports.ts';
import type { NoStatus, RecordDraft, StoredRecord } from '../base/record.ts';
import { formatInstant } from '../base/time.ts';
import { snapshotNameAt } from '../history/snapshot-record.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AssessmentRecord, AssessmentSpec } from './assessment-record.ts';
import type { ControlResult, ControlStatus } from './control-result.ts';
import { type Framework, frameworkOf } from './frameworks.ts';
import { type ScanPage, scanRecords } from './scan.ts';

/** The change that a control fails since, where one is known. */
export interface DriftCause {
  readonly at: string;
  readonly revision: number | null;
  readonly actor: string | null;
}

/** A control whose status is another one than the assessment before found. */
export interface DriftedControl {
  readonly control: string;
  readonly from: ControlStatus;
  readonly to: ControlStatus;
  readonly cause: DriftCause | null;
}

/** The differences between an assessment and the previous one. */
interface DriftSpec {
  readonly framework: Framework;
  /** Ids of the two assessments. */
  readonly evidenceId: string;
  readonly previousId: string;
  /** Milliseconds. */
  readonly at: number;
  readonly controls: readonly DriftedControl[];
}

declare module '../base/record.ts' {
  interface RecordTypes {
    ComplianceDrift: { spec: DriftSpec; status: NoStatus };
  }
}

export type DriftRecord = StoredRecord<'ComplianceDrift'>;

/** The name of the event in event streams and in the audit log. */
export const DRIFT_EVENT = 'compliance.drift';

/** Newest assessments that are looked through for the one before. */
const SCAN = 200;

/**
 * The assessment of a framework whose period ended last, at or before another's. None where one is known that ended later:
 * who assesses the past again has found no drift.
 */
export async function previousAssessment(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  { framework, to }: Pick<AssessmentSpec, 'framework' | 'to'>,
): Promise<AssessmentRecord | undefined> {
  const { items } = await store.list(workspace, 'Assessment', { limit: SCAN });
  let newest: AssessmentRecord | undefined;
  for (const record of items) {
    if (record.spec.framework === framework && record.spec.to > (newest?.spec.to ?? Number.NEGATIVE_INFINITY)) {
      newest = record;
    }
  }
  return newest && newest.spec.to <= to ? newest : undefined;
}

/** The controls that an assessment judges otherwise than the one before; those that only one of them knows are none. */
export function driftedControls(
  previous: Pick<AssessmentSpec, 'statuses'>,
  controls: readonly ControlResult[],
): DriftedControl[] {
  return controls.flatMap(({ id, status, failing }): DriftedControl[] => {
    const from = previous.statuses[id];
    if (from === undefined || from === status) return [];
    const begun = status === 'fail' ? failing.at(-1)?.begun_by : undefined;
    const cause = begun ? { at: begun.at, revision: begun.revision, actor: begun.actor } : null;
    return [{ control: id, from, to: status, cause }];
  });
}

/** The record that event streams and lists show. */
export function driftDraft(spec: DriftSpec): RecordDraft<'ComplianceDrift'> {
  const uid = newId('drift');
  const name = `${snapshotNameAt(spec.at)}.${uid}`;
  return { kind: 'ComplianceDrift', name, uid, labels: {}, annotations: {}, spec, status: {}, unique: [] };
}

/** For the audit log. */
export function driftEvents({ framework, evidenceId, controls }: DriftSpec, actor: string): SecurityEvent[] {
  return controls.map(({ control, from, to, cause }) => ({
    type: DRIFT_EVENT,
    actor,
    result: 'ok',
    detail: { framework, control, from, to, evidence_id: evidenceId, cause },
  }));
}

/** As event streams and lists show it. */
export interface DriftView {
  readonly id: string;
  readonly framework: Framework;
  readonly at: string;
  readonly evidence_id: string;
  readonly previous_evidence_id: string;
  readonly controls: readonly DriftedControl[];
}

export function driftView({ uid, spec }: Pick<DriftRecord, 'uid' | 'spec'>): DriftView {
  const { framework, at, evidenceId, previousId, controls } = spec;
  return {
    id: uid,
    framework,
    at: formatInstant(at),
    evidence_id: evidenceId,
    previous_evidence_id: previousId,
    controls,
  };
}

/** Newest first. @throws MeshError `invalid_input` for a framework that there is not */
export async function listDrift(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  { framework, control, since, cursor, limit }: DriftQuery,
): Promise<ScanPage<DriftView>> {
  const wanted = framework === undefined ? undefined : frameworkOf(framework);
  return scanRecords({ store }, workspace, 'ComplianceDrift', { cursor, limit }, ({ uid, spec }) => {
    // Names run from the newest to the oldest.
    if (since !== undefined && spec.at < since) return 'end';
    const controls = spec.controls.filter((one) => control === undefined || one.control === control);
    if (controls.length === 0 || (wanted !== undefined && spec.framework !== wanted)) return undefined;
    return driftView({ uid, spec: { ...spec, controls } });
  });
}

export interface DriftQuery {
  readonly framework?: string | undefined;
  /** Its id: records are told with this control alone. */
  readonly control?: string | undefined;
  /** Milliseconds. */
  readonly since?: number | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}
