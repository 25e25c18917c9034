import { z } from 'zod';
import { isPayloadSigned, keyFingerprint } from '../../audit/dsse.ts';
import { decodeBase64 } from '../../audit/note.ts';
import type { ControlStatus } from '../../compliance/control-result.ts';
import { type FileDigest, PAYLOAD_TYPE, STATEMENT_TYPE } from '../attestation.ts';
import type { EvidenceFinding } from './findings.ts';

/** Maximum items in a list of files or controls: each wrong item would be a finding and take memory. */
const MAX_LISTED = 2_000;

const hexDigest = z.string().regex(/^[0-9a-f]{64}$/);

const envelopeShape = z.strictObject({
  payloadType: z.literal(PAYLOAD_TYPE),
  payload: z.string(),
  signatures: z.array(z.strictObject({ keyid: z.string(), sig: z.string() })).length(1),
  digestAlgorithm: z.literal('SHA256'),
  files: z.array(z.strictObject({ path: z.string(), sha256: hexDigest })).max(MAX_LISTED),
  bundleDigest: hexDigest,
  publicKeyFingerprint: hexDigest,
  generatedAt: z.string(),
  evidenceId: z.string(),
});

const statementShape = z.object({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: hexDigest }) })).max(MAX_LISTED),
  predicate: z.object({
    configuration: z
      .array(z.object({ name: z.string(), digest: z.object({ sha256: hexDigest }).optional() }))
      .max(MAX_LISTED),
    passedTests: z.array(z.string()).max(MAX_LISTED),
    warnedTests: z.array(z.string()).max(MAX_LISTED),
    failedTests: z.array(z.string()).max(MAX_LISTED),
  }),
});
type Predicate = z.output<typeof statementShape>['predicate'];

type ControlResult = readonly [id: string, status: ControlStatus];

export interface AttestationContents {
  /** The signed digest of each file; empty where nothing was signed. */
  readonly files: readonly FileDigest[];
  readonly evidenceId: string;
  /** ISO 8601. It stands beside what was signed: the assessment, whose digest was signed, has to say the same. */
  readonly generatedAt: string;
  /** The catalog by which the controls were judged. */
  readonly catalogue?: { readonly framework: string; readonly sha256: string } | undefined;
  readonly results: readonly ControlResult[];
  readonly findings: readonly EvidenceFinding[];
}

/** Reads `attestation.json`: what is beside the payload has to say the same. @param publicKey raw, of the archive */
export function readAttestation(text: string, publicKey: Uint8Array): AttestationContents {
  const nothing = (message: string): AttestationContents => {
    return { ...NOTHING, findings: [{ code: 'attestation', message }] };
  };
  const envelope = parsed(envelopeShape, text);
  if (typeof envelope === 'string') return nothing(`attestation.json is not as it was written: ${envelope}.`);
  const [{ keyid, sig } = { keyid: '', sig: '' }] = envelope.signatures;
  const payload = decodeBase64(envelope.payload);
  const signature = decodeBase64(sig);
  if (!payload || !signature) return nothing('attestation.json: its payload or its signature is no base64.');
  if (!isPayloadSigned(PAYLOAD_TYPE, payload, signature, publicKey)) {
    const message = 'attestation.json: its payload is not what the key in public-key.pem signed.';
    return { ...NOTHING, findings: [{ code: 'signature', message }] };
  }
  const statement = parsed(statementShape, Buffer.from(payload).toString());
  if (typeof statement === 'string') return nothing(`attestation.json: its payload is no statement: ${statement}.`);
  const files = statement.subject.map(({ name, digest }) => ({ path: name, sha256: digest.sha256 }));
  const { predicate } = statement;
  const names = predicate.configuration.map(({ name }) => name);
  const last = files.at(-1);
  const beside: readonly (readonly [string, boolean])[] = [
    ['files', JSON.stringify(envelope.files) === JSON.stringify(files)],
    ['bundleDigest', last?.path === 'MANIFEST.sha256' && envelope.bundleDigest === last.sha256],
    ['evidenceId', names.includes(`assessment/${envelope.evidenceId}`)],
    ['publicKeyFingerprint', envelope.publicKeyFingerprint === keyFingerprint(publicKey)],
    ['keyid', keyid === keyFingerprint(publicKey)],
  ];
  const findings = beside
    .filter(([, agrees]) => !agrees)
    .map(([field]): EvidenceFinding => {
      return { code: 'attestation', message: `attestation.json: ${field} is not what was signed.` };
    });
  return {
    files,
    evidenceId: envelope.evidenceId,
    generatedAt: envelope.generatedAt,
    catalogue: catalogueIn(predicate),
    results: resultsIn(predicate),
    findings,
  };
}

const NOTHING = { files: [], evidenceId: '', generatedAt: '', results: [] } as const;
const CATALOGUE = 'catalogue/';

function catalogueIn({ configuration }: Predicate): AttestationContents['catalogue'] {
  const found = configuration.find(({ name }) => name.startsWith(CATALOGUE));
  return found?.digest && { framework: found.name.slice(CATALOGUE.length), sha256: found.digest.sha256 };
}

function resultsIn({ passedTests, warnedTests, failedTests }: Predicate): ControlResult[] {
  const as = (ids: readonly string[], status: ControlStatus) => ids.map((id): ControlResult => [id, status]);
  return [...as(passedTests, 'pass'), ...as(warnedTests, 'insufficient_evidence'), ...as(failedTests, 'fail')];
}

/** @param shape of which every list is bounded. @returns what is wrong, where it is not of this shape */
export function parsed<T>(shape: z.ZodType<T>, text: string): T | string {
  try {
    const result = shape.safeParse(JSON.parse(text));
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    return `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'invalid'}`;
  } catch {
    return 'it is no JSON';
  }
}
