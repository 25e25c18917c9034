import { z } from 'zod';
import { parseInstant } from '../../base/time.ts';
import { catalogOf } from '../../compliance/catalog.ts';
import { CONTROL_STATES } from '../../compliance/control-result.ts';
import { FRAMEWORKS } from '../../compliance/frameworks.ts';
import { digestOf } from '../attestation.ts';
import { ASSESSMENT_PATH } from '../layout.ts';
import { controlPath } from '../reports/about.ts';
import { type AttestationContents, parsed } from './attestation.ts';
import type { EvidenceFinding } from './findings.ts';

const MAX_CONTROLS = 1_000;

const assessmentShape = z.object({
  evidence_id: z.string(),
  generated_at: z.iso.datetime(),
  canonical_framework: z.enum(FRAMEWORKS),
  period_start: z.iso.datetime(),
  period_end: z.iso.datetime(),
  controls: z
    .array(z.object({ id: z.string().max(200), status: z.enum(CONTROL_STATES) }))
    .min(1)
    .max(MAX_CONTROLS),
});
type Assessment = z.output<typeof assessmentShape>;

/** The result of checking `assessment.json`, and the files that its controls must have. */
export interface CheckedAssessment {
  readonly controls: readonly string[];
  /** ISO 8601; undefined where it cannot be read. */
  readonly period?: { readonly start: string; readonly end: string };
  /** The instant of the archive, ms; undefined where it cannot be read. */
  readonly at?: number;
  readonly findings: readonly EvidenceFinding[];
  readonly notes: readonly string[];
}

/** Holds the assessment against what was signed of it, and against the controls that its framework has. */
export function checkAssessment(text: string, attested: AttestationContents): CheckedAssessment {
  const assessment = parsed(assessmentShape, text);
  if (typeof assessment === 'string') {
    const message = `${ASSESSMENT_PATH} is not as it was written: ${assessment}.`;
    return { controls: [], findings: [{ code: 'assessment', message }], notes: [] };
  }
  const { period_start: start, period_end: end } = assessment;
  const { lacking, note } = lackingControls(assessment, attested);
  const faults = [
    ...signedOtherwise(assessment, attested).map((what) => `${what} is not what was signed.`),
    ...lacking.map((id) => `the control ${id} has no result, and ${assessment.canonical_framework} has it.`),
  ];
  return {
    controls: assessment.controls.map(({ id }) => controlPath(id)),
    period: { start, end },
    at: parseInstant(assessment.generated_at),
    findings: faults.map((fault) => ({ code: 'assessment', message: `${ASSESSMENT_PATH}: ${fault}` })),
    notes: note === undefined ? [] : [note],
  };
}

function signedOtherwise(assessment: Assessment, attested: AttestationContents): string[] {
  const results = JSON.stringify(assessment.controls.map(({ id, status }) => [id, status]).toSorted());
  const said: readonly (readonly [string, boolean])[] = [
    ['evidence_id', assessment.evidence_id === attested.evidenceId],
    ['generated_at', assessment.generated_at === attested.generatedAt],
    ['canonical_framework', assessment.canonical_framework === attested.catalogue?.framework],
    ['the status of a control', results === JSON.stringify(attested.results.toSorted())],
  ];
  return said.filter(([, agrees]) => !agrees).map(([what]) => what);
}

/**
 * Returns the controls without a result. For another catalog version only the controls of the contract are checked, which
 * every version has.
 */
function lackingControls(
  { canonical_framework: framework, controls }: Assessment,
  { catalogue }: AttestationContents,
): { readonly lacking: readonly string[]; readonly note?: string } {
  const own = catalogOf(framework);
  const isSame = catalogue?.sha256 === digestOf(JSON.stringify(own));
  const there = new Set(controls.map(({ id }) => id));
  const wanted = own.controls.filter(({ isOfContract }) => isSame || isOfContract);
  const lacking = wanted.filter(({ id }) => !there.has(id)).map(({ id }) => id);
  if (isSame) return { lacking };
  const note = `It was judged by another version of the controls of ${framework} than this program has: whether all of that version are in it is not shown.`;
  return { lacking, note };
}
