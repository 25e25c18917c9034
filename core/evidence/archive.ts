import { createHash } from 'node:crypto';
import { keyFingerprint, publicKeyPem } from '../audit/dsse.ts';
import type { CallContext } from '../base/operation.ts';
import { type AssessmentAnswer, assessmentById, getAssessment } from '../compliance/assessments.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';
import { attest, digestOf, type FileDigest, manifestOf } from './attestation.ts';
import {
  ASSESSMENT_PATH,
  ATTESTATION_PATH,
  CHECKPOINT_PATH,
  KEY_PATH,
  MANIFEST_PATH,
  metaPath,
  VERIFY_PATH,
} from './layout.ts';
import { type LogPart, logPartOf } from './log-part.ts';
import { RAW_FILES, type RawContext, type RawFile } from './raw-files.ts';
import { ReportedRecords } from './reported-records.ts';
import { type About, controlPath, OSCAL_PATH, REPORT_PATH, SUMMARY_PATH } from './reports/about.ts';
import { controlMarkdown } from './reports/control-markdown.ts';
import { oscalResults } from './reports/oscal.ts';
import { reportHtml } from './reports/report-html.ts';
import { executiveSummary } from './reports/summary.ts';
import { verifyPage } from './verify-page.ts';

/** A file of the archive. Its pieces are taken to their end before the next file is asked for. */
export interface ArchiveFile {
  readonly path: string;
  readonly pieces: AsyncIterable<string>;
}

/** An archive that can be written. */
export interface Archive {
  readonly fileName: string;
  /** The modification time of all files, ms: that of the assessment, so that a repeated export is identical. */
  readonly at: number;
  readonly files: AsyncIterable<ArchiveFile>;
}

type Services = Pick<NetworkServices, 'store' | 'states' | 'clock' | 'keys' | 'settings' | 'nextTurn'>;

/**
 * The evidence of a stored assessment. What it holds is read as it was when the assessment was stored, so that it has the same
 * bytes whenever it is exported, as long as history, key and version are the same (docs/evidence.md#made-again).
 *
 * That it was asked for is an event of the audit log at once; that it was handed out another one, before its last file, without
 * which it does not verify.
 *
 * @throws MeshError `not_found`; `unavailable` where the log contradicts itself
 */
export async function openArchive(context: CallContext<Services>, id: string): Promise<Archive> {
  const { services, workspace } = context;
  const record = await assessmentById(services, workspace, id);
  const assessment = await getAssessment(services, workspace, id);
  const log = await logPartOf(services, workspace, record);
  const about = await aboutOf(services, workspace, record.spec.generatedAt);
  await tell(context, 'evidence.export_begun', { evidence_id: id });
  const period = { from: record.spec.from, to: record.spec.to };
  const raw: RawContext = { services, workspace, period, log, told: new ReportedRecords() };
  return {
    fileName: archiveName(assessment),
    at: record.spec.generatedAt,
    files: filesOf(context, assessment, about, raw),
  };
}

export function archiveName({ generated_at }: Pick<AssessmentAnswer, 'generated_at'>): string {
  return `mesh-compliance-evidence-${generated_at.slice(0, 10)}.zip`;
}

/** In the order of the contract; what tells the digests of the others comes last. */
async function* filesOf(
  context: CallContext<Services>,
  assessment: AssessmentAnswer,
  about: About,
  raw: RawContext,
): AsyncGenerator<ArchiveFile> {
  const { services } = context;
  const { keys } = services;
  const written: FileDigest[] = [];
  const whole = (path: string, text: string): ArchiveFile => {
    written.push({ path, sha256: digestOf(text) });
    return { path, pieces: once(text) };
  };
  yield whole(SUMMARY_PATH, executiveSummary(assessment, about));
  for (const control of assessment.controls) {
    yield whole(controlPath(control.id), controlMarkdown(control, assessment, about));
    await services.nextTurn();
  }
  for (const file of RAW_FILES) {
    const counted: RowCounts = { rows: 0, sha256: '' };
    yield { path: file.path, pieces: countedRows(file, raw, counted) };
    written.push({ path: file.path, sha256: counted.sha256 });
    yield whole(metaPath(file.path), metaOf(file, counted, assessment, about, raw.log));
  }
  const digests = new Map(written.map(({ path, sha256 }) => [path, sha256]));
  const digested = about.raw.map((file) => ({ ...file, sha256: digests.get(file.path) ?? '' }));
  yield whole(OSCAL_PATH, oscalResults(assessment, { ...about, raw: digested }));
  yield whole(REPORT_PATH, reportHtml(assessment, { ...about, raw: digested }));
  yield whole(ASSESSMENT_PATH, `${JSON.stringify(assessment, null, 2)}\n`);
  yield whole(CHECKPOINT_PATH, raw.log.checkpoint);
  const publicKey = currentKey(services);
  yield whole(KEY_PATH, publicKeyPem(publicKey));
  yield whole(VERIFY_PATH, verifyPage(keyFingerprint(publicKey), keys.logs.originOf(context.workspace)));
  const manifest = manifestOf(written);
  yield whole(MANIFEST_PATH, manifest);
  const { text, bundleDigest } = attest(keys.logs, assessment, written);
  await tell(context, 'evidence.exported', { evidence_id: assessment.evidence_id, bundle_sha256: bundleDigest });
  yield { path: ATTESTATION_PATH, pieces: once(text) };
}

interface RowCounts {
  rows: number;
  sha256: string;
}

async function* countedRows(file: RawFile, raw: RawContext, counted: RowCounts): AsyncGenerator<string> {
  const hash = createHash('sha256');
  for await (const { text, count } of file.rows(raw)) {
    hash.update(text);
    counted.rows += count;
    yield text;
  }
  counted.sha256 = hash.digest('hex');
}

function metaOf(
  { path, source, query }: RawFile,
  { rows, sha256 }: RowCounts,
  { period_start, period_end, generated_at, generated_by }: AssessmentAnswer,
  { version }: About,
  { firstSeq, lastSeq, root, before }: LogPart,
): string {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const meta = {
    file: path,
    source,
    query,
    period: { start: period_start, end: period_end },
    row_count: rows,
    sha256,
    generated_at,
    generated_by,
    tool_version: version,
    log_range: { first_seq: firstSeq, last_seq: lastSeq, root: base64(root), before: before.map(base64) },
  };
  return `${JSON.stringify(meta, null, 2)}\n`;
}

async function aboutOf(services: Services, workspace: string, exportedAt: number): Promise<About> {
  const { spec } = await workspaceById(services, workspace);
  return {
    installation: services.settings.apiUrl,
    workspace: { id: workspace, name: spec.displayName },
    exportedAt,
    version: services.settings.version,
    keyFingerprint: keyFingerprint(currentKey(services)),
    raw: RAW_FILES.map(({ path, title, mediaType, holds }) => ({ path, title, mediaType, holds })),
  };
}

function currentKey({ keys }: Pick<Services, 'keys'>): Uint8Array {
  return keys.logs.keys.findLast(({ until }) => until === undefined)?.publicKey ?? new Uint8Array();
}

/** An entry of the audit log that says who exports what. */
async function tell(
  { services, workspace, caller, origin, requestId }: CallContext<Services>,
  type: string,
  detail: Readonly<Record<string, unknown>>,
): Promise<void> {
  const actor = caller.subject;
  await services.store.record(workspace, [{ type, actor, result: 'ok', origin, requestId, detail }]);
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}
