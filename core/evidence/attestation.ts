import { createHash } from 'node:crypto';
import { keyFingerprint } from '../audit/dsse.ts';
import type { LogKeys } from '../audit/log-keys.ts';
import type { AssessmentAnswer } from '../compliance/assessments.ts';
import { catalogOf } from '../compliance/catalog.ts';

/** A file of the archive. */
export interface FileDigest {
  readonly path: string;
  /** Hexadecimal. */
  readonly sha256: string;
}

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
const PREDICATE_TYPE = 'https://in-toto.io/attestation/test-result/v0.1';

/** `attestation.json`, and the digest that names the archive: of its manifest. */
export interface Attestation {
  readonly text: string;
  readonly bundleDigest: string;
}

/** `MANIFEST.sha256` as `sha256sum` reads it. */
export function manifestOf(files: readonly FileDigest[]): string {
  return files.map(({ path, sha256 }) => `${sha256}  ${path}\n`).join('');
}

/**
 * A DSSE envelope around an in-toto statement about every file, with what a reader looks for beside it. What is beside it
 * is not signed: a verifier holds it against the payload.
 *
 * @param files all, the manifest last
 */
export function attest(keys: LogKeys, assessment: AssessmentAnswer, files: readonly FileDigest[]): Attestation {
  const payload = Buffer.from(statementText(assessment, files));
  const { publicKey, signature } = keys.attest(PAYLOAD_TYPE, payload);
  const fingerprint = keyFingerprint(publicKey);
  const bundleDigest = files.at(-1)?.sha256 ?? '';
  const envelope = {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString('base64'),
    signatures: [{ keyid: fingerprint, sig: Buffer.from(signature).toString('base64') }],
    digestAlgorithm: 'SHA256',
    files,
    bundleDigest,
    publicKeyFingerprint: fingerprint,
    generatedAt: assessment.generated_at,
    evidenceId: assessment.evidence_id,
  };
  return { text: `${JSON.stringify(envelope, null, 2)}\n`, bundleDigest };
}

/** A subject on each line, so that a shell can read them too. */
function statementText(assessment: AssessmentAnswer, files: readonly FileDigest[]): string {
  const subjects = files.map(({ path, sha256 }) => JSON.stringify({ name: path, digest: { sha256 } }));
  return [
    `{"_type":${JSON.stringify(STATEMENT_TYPE)},"subject":[`,
    subjects.join(',\n'),
    `],"predicateType":${JSON.stringify(PREDICATE_TYPE)},"predicate":`,
    `${JSON.stringify(predicateOf(assessment))}}\n`,
  ].join('\n');
}

/** Returns the controls and their results as an in-toto test result; a control without evidence is a warning there. */
function predicateOf(assessment: AssessmentAnswer) {
  const { controls, status, canonical_framework: framework, period_start, period_end, evidence_id } = assessment;
  const ids = (wanted: string) => controls.filter((control) => control.status === wanted).map(({ id }) => id);
  const results = { pass: 'PASSED', partial: 'WARNED', fail: 'FAILED' } as const;
  return {
    result: results[status],
    configuration: [
      { name: `catalogue/${framework}`, digest: { sha256: digestOf(JSON.stringify(catalogOf(framework))) } },
      { name: `assessment/${evidence_id}`, annotations: { evidence_id, period_start, period_end } },
    ],
    passedTests: ids('pass'),
    warnedTests: ids('insufficient_evidence'),
    failedTests: ids('fail'),
  };
}

export function digestOf(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
