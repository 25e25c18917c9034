import { formatInstant } from '../base/time.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AssessmentRecord } from './assessment-record.ts';
import type { ControlStatus } from './control-result.ts';
import { type Framework, frameworkOf } from './frameworks.ts';

/** An assessment as a point of a chart. */
export interface TrendPoint {
  readonly generated_at: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly score: number;
  /** Controls by their result. */
  readonly counts: Readonly<Record<ControlStatus, number>>;
  readonly evidence_id: string;
}

/** Points of one answer: three years of one a day. */
export const MAX_POINTS = 1_100;
const SCAN = 500;

/**
 * How the newest assessments of a framework went, oldest first.
 *
 * @throws MeshError `invalid_input` for a framework that there is not
 */
export async function trendOf(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  name: string,
): Promise<{ readonly framework: Framework; readonly points: TrendPoint[]; readonly more: boolean }> {
  const framework = frameworkOf(name);
  const points: TrendPoint[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.list(workspace, 'Assessment', { limit: SCAN, ...(after !== undefined && { after }) });
    for (const record of page.items) {
      if (record.spec.framework !== framework) continue;
      if (points.length === MAX_POINTS) return { framework, points: points.toReversed(), more: true };
      points.push(pointOf(record));
    }
    after = page.items.at(-1)?.name;
    if (page.next === undefined || after === undefined) return { framework, points: points.toReversed(), more: false };
  }
}

function pointOf({ uid, spec }: AssessmentRecord): TrendPoint {
  const counts = { pass: 0, fail: 0, insufficient_evidence: 0 };
  for (const status of Object.values(spec.statuses)) counts[status] += 1;
  return {
    generated_at: formatInstant(spec.generatedAt),
    period_start: formatInstant(spec.from),
    period_end: formatInstant(spec.to),
    score: spec.score,
    counts,
    evidence_id: uid,
  };
}
