import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Checkpoint, openCheckpoint, readCheckpoint } from '../../audit/checkpoint.ts';
import { keyFingerprint, parsePublicKeyPem } from '../../audit/dsse.ts';
import { decodeBase64 } from '../../audit/note.ts';
import { formatInstant, parseInstant } from '../../base/time.ts';
import { metaPath } from '../archive.ts';
import { type FileDigest, manifestOf } from '../attestation.ts';
import { parsed, readAttestation } from './attestation.ts';
import type { ArchiveReader, EvidenceFinding } from './findings.ts';
import { LogLines } from './log.ts';
import { type RowCounter, TimelineRows, WorkflowRows, YamlDocuments } from './rows.ts';

/** What was found of an archive. */
export interface EvidenceReport {
  readonly evidenceId: string;
  /** SHA-256 of the key in the archive; empty where there is none. */
  readonly fingerprint: string;
  /** Of the log; undefined where it is not signed. */
  readonly checkpoint: Checkpoint | undefined;
  readonly files: number;
  readonly findings: readonly EvidenceFinding[];
  /** What a person should know beside that. */
  readonly notes: readonly string[];
}

const instant = z.string().transform(parseInstant);
const metaShape = z.object({
  file: z.string(),
  period: z.object({ start: instant, end: instant }),
  row_count: z.int(),
  sha256: z.string(),
  log_range: z.object({
    first_seq: z.int().min(0),
    last_seq: z.int().min(0),
    root: z.string(),
    before: z.array(z.string()).max(64),
  }),
});
type Meta = z.output<typeof metaShape>;

const LOG_PATH = 'raw-data/audit-log.jsonl';
const CHECKPOINT_PATH = 'audit-checkpoint.txt';
const ATTESTATION_PATH = 'attestation.json';
const MANIFEST_PATH = 'MANIFEST.sha256';
const KEY_PATH = 'public-key.pem';

/**
 * Verifies an archive by itself, without a server. Whatever cannot be read is a finding.
 *
 * @param isTrusted whether a key of this fingerprint may have signed it
 */
export async function verifyArchive(
  archive: ArchiveReader,
  isTrusted: (fingerprint: string) => boolean,
): Promise<EvidenceReport> {
  const check = new ArchiveCheck(archive);
  const findings = check.findings;
  findings.push(...nameFindings(archive.names));
  const publicKey = parsePublicKeyPem((await check.text(KEY_PATH)) ?? '');
  const fingerprint = publicKey ? keyFingerprint(publicKey) : '';
  if (!publicKey) findings.push({ code: 'signature', message: `${KEY_PATH} is no Ed25519 key.` });
  else if (!isTrusted(fingerprint)) {
    const message = `The archive is signed by ${fingerprint}, which is not a key that is trusted: ask the operator for theirs.`;
    findings.push({ code: 'untrusted_key', message });
  }
  const attestation = await check.text(ATTESTATION_PATH);
  const attested = publicKey && attestation !== undefined ? readAttestation(attestation, publicKey) : undefined;
  findings.push(...(attested?.findings ?? []));
  const files = attested?.files ?? [];
  if (files.length > 0) await check.namesAgainst(files);
  const checkpoint = publicKey && (await check.checkpoint(publicKey));
  const raw = await check.rawFiles(checkpoint, attested?.evidenceId ?? '');
  await check.digests(files, raw);
  return {
    evidenceId: attested?.evidenceId ?? '',
    fingerprint,
    checkpoint,
    files: files.length,
    findings,
    notes: check.notes,
  };
}

/** Paths that lead out of a directory, or that programs read differently. */
const SAFE_PATH = /^(?:[A-Za-z0-9_()][A-Za-z0-9._()-]*\/)*[A-Za-z0-9_()][A-Za-z0-9._()-]*$/;

function nameFindings(names: readonly string[]): EvidenceFinding[] {
  const seen = new Set<string>();
  return names.flatMap((name): EvidenceFinding[] => {
    const shown = JSON.stringify(name.slice(0, 200));
    if (!SAFE_PATH.test(name))
      return [
        { code: 'path', message: `The entry ${shown} has a name that no archive of evidence has: do not unpack it.` },
      ];
    const folded = name.toLowerCase();
    if (seen.has(folded))
      return [
        { code: 'duplicate', message: `The entry ${shown} is there twice, or beside one that differs in case alone.` },
      ];
    seen.add(folded);
    return [];
  });
}

class ArchiveCheck {
  readonly findings: EvidenceFinding[] = [];
  readonly notes: string[] = [];
  readonly #archive: ArchiveReader;

  constructor(archive: ArchiveReader) {
    this.#archive = archive;
  }

  /** Undefined for a file that is not there or cannot be read, which is a finding. */
  async text(path: string): Promise<string | undefined> {
    if (!this.#archive.names.includes(path)) {
      this.findings.push({ code: 'missing', message: `${path} is missing.` });
      return undefined;
    }
    try {
      return await this.#archive.text(path);
    } catch (error) {
      this.#unreadable(path, error);
      return undefined;
    }
  }

  async namesAgainst(files: readonly FileDigest[]): Promise<void> {
    const [there, signed] = [new Set(this.#archive.names), new Set(files.map(({ path }) => path))];
    for (const path of signed)
      if (!there.has(path)) this.findings.push({ code: 'missing', message: `${path} was signed and is missing.` });
    for (const name of there) {
      if (name === ATTESTATION_PATH || signed.has(name)) continue;
      this.findings.push({ code: 'extra', message: `${JSON.stringify(name.slice(0, 200))} was not signed.` });
    }
    const manifest = await this.text(MANIFEST_PATH);
    if (manifest === undefined || manifest === manifestOf(files.filter(({ path }) => path !== MANIFEST_PATH))) return;
    this.findings.push({ code: 'manifest', message: `${MANIFEST_PATH} does not list what was signed.` });
  }

  async checkpoint(publicKey: Uint8Array): Promise<Checkpoint | undefined> {
    const note = await this.text(CHECKPOINT_PATH);
    if (note === undefined) return undefined;
    const name = readCheckpoint(note)?.origin ?? '';
    const opened = openCheckpoint(note, [{ name, publicKey }]);
    if (!opened)
      this.findings.push({
        code: 'checkpoint',
        message: `${CHECKPOINT_PATH} is not signed by the key in ${KEY_PATH}.`,
      });
    return opened;
  }

  /** Digests of the files of raw data, whose rows are counted on the way. */
  async rawFiles(checkpoint: Checkpoint | undefined, evidenceId: string): Promise<ReadonlyMap<string, string>> {
    const digests = new Map<string, string>();
    const logMeta = await this.#meta(LOG_PATH);
    if (!logMeta) return digests;
    const log = this.#logOf(logMeta);
    if (!log) return digests;
    await this.#rows(LOG_PATH, logMeta, log, digests);
    this.#checkLog(log, logMeta, checkpoint, evidenceId);
    const [timeline, workflows] = [new TimelineRows(log), new WorkflowRows(log)];
    const others: readonly (readonly [string, RowCounter])[] = [
      ['raw-data/policies-current.yaml', new YamlDocuments()],
      ['raw-data/snapshots-timeline.json', timeline],
      ['raw-data/workflow-audit-log.csv', workflows],
    ];
    for (const [path, counter] of others) {
      const meta = await this.#meta(path);
      if (!meta) continue;
      await this.#rows(path, meta, counter, digests);
      if (JSON.stringify([meta.log_range, meta.period]) !== JSON.stringify([logMeta.log_range, logMeta.period])) {
        this.findings.push({
          code: 'meta',
          message: `${metaPath(path)} has another period or part of the log than that of ${LOG_PATH}.`,
        });
      }
    }
    this.#checkPopulations(timeline, workflows, logMeta);
    return digests;
  }

  /** Of all that was signed; those of raw data have been read already. */
  async digests(files: readonly FileDigest[], known: ReadonlyMap<string, string>): Promise<void> {
    for (const { path, sha256 } of files) {
      if (!this.#archive.names.includes(path)) continue;
      const digest = known.get(path) ?? (await this.#digest(path));
      if (digest === undefined || digest === sha256) continue;
      this.findings.push({ code: 'changed', message: `${path} is not the file that was signed.` });
    }
  }

  async #digest(path: string): Promise<string | undefined> {
    const hash = createHash('sha256');
    try {
      for await (const bytes of this.#archive.read(path)) hash.update(bytes);
      return hash.digest('hex');
    } catch (error) {
      this.#unreadable(path, error);
      return undefined;
    }
  }

  async #meta(path: string): Promise<Meta | undefined> {
    const text = await this.text(metaPath(path));
    if (text === undefined) return undefined;
    const meta = parsed(metaShape as unknown as z.ZodType<Meta>, text);
    const fault = typeof meta === 'string' ? meta : meta.file === path ? undefined : 'it is about another file';
    if (typeof meta !== 'string' && fault === undefined) return meta;
    this.findings.push({ code: 'meta', message: `${metaPath(path)} is not as it was written: ${fault}.` });
    return undefined;
  }

  #logOf({ log_range: { first_seq, before } }: Meta): LogLines | undefined {
    try {
      const hashes = before.map((text) => decodeBase64(text)).filter((hash) => hash?.length === 32) as Uint8Array[];
      return new LogLines(first_seq, hashes);
    } catch (error) {
      this.findings.push({ code: 'log', message: `${metaPath(LOG_PATH)}: ${(error as Error).message}.` });
      return undefined;
    }
  }

  async #rows(path: string, meta: Meta, counter: RowCounter, digests: Map<string, string>): Promise<void> {
    if (!this.#archive.names.includes(path)) return;
    const hash = createHash('sha256');
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    let fault: string | undefined;
    try {
      for await (const bytes of this.#archive.read(path)) {
        hash.update(bytes);
        fault ??= faultIn(() => counter.read(decoder.decode(bytes, { stream: true })));
      }
      fault ??= faultIn(() => counter.end());
    } catch (error) {
      this.#unreadable(path, error);
      return;
    }
    const digest = hash.digest('hex');
    digests.set(path, digest);
    if (fault !== undefined)
      this.findings.push({ code: 'rows', message: `${path} is not as it was written: ${fault}.` });
    if (meta.sha256 !== digest)
      this.findings.push({ code: 'meta', message: `${metaPath(path)} has another digest than ${path}.` });
    if (meta.row_count !== counter.count) {
      const message = `${metaPath(path)} says ${meta.row_count} rows, ${path} has ${counter.count}.`;
      this.findings.push({ code: 'meta', message });
    }
  }

  #checkLog(
    log: LogLines,
    { log_range: range, period }: Meta,
    checkpoint: Checkpoint | undefined,
    evidenceId: string,
  ): void {
    const root = Buffer.from(log.root()).toString('base64');
    const wrong = (isWrong: boolean, message: string) => {
      if (isWrong) this.findings.push({ code: 'log', message: `${LOG_PATH}: ${message}` });
    };
    wrong(
      range.last_seq + 1 !== log.size || range.root !== root,
      'its entries do not make up the root of its .meta.json.',
    );
    if (checkpoint) {
      const isSame = checkpoint.size === log.size && Buffer.compare(checkpoint.root, log.root()) === 0;
      wrong(!isSame, `its entries do not make up the root of ${CHECKPOINT_PATH}: one was changed, left out or added.`);
    }
    wrong(!log.isOrdered, 'an entry is older than the one before it.');
    const isWhole = range.first_seq === 0 || (log.oldest !== undefined && log.oldest < period.start);
    wrong(!isWhole, 'it begins within the period: entries before its first may be missing.');
    wrong(!log.lastAssessments.includes(evidenceId), 'its last entry does not store the assessment that was signed.');
    this.notes.push(
      `${log.count} entries of the audit log, ${range.first_seq} to ${range.last_seq}, make up the root of the checkpoint: none of the period is missing.`,
    );
  }

  #checkPopulations(timeline: TimelineRows, workflows: WorkflowRows, { period }: Meta): void {
    const rows = (path: string, unknown: readonly string[]) => {
      if (unknown.length === 0) return;
      const message = `${path} has ${unknown.length} rows that the log does not tell of, the first ${unknown[0]}.`;
      this.findings.push({ code: 'rows', message });
    };
    rows('raw-data/snapshots-timeline.json', timeline.unknown);
    rows('raw-data/workflow-audit-log.csv', workflows.unknown);
    const {
      missing: [first],
    } = workflows;
    if (first !== undefined) {
      const message = `raw-data/workflow-audit-log.csv lacks ${workflows.missing.length} workflows that the log tells of, the first ${first}.`;
      this.findings.push({ code: 'rows', message });
    }
    const missing = timeline.missing({ from: period.start, to: period.end });
    if (missing === 0) return;
    const range = `${formatInstant(period.start)} to ${formatInstant(period.end)}`;
    this.notes.push(
      `The log tells of ${missing} more snapshots from ${range} than the timeline has: they were no longer kept when it was exported.`,
    );
  }

  #unreadable(path: string, error: unknown): void {
    const why = error instanceof Error ? error.message.slice(0, 200) : String(error);
    this.findings.push({ code: 'damaged', message: `${path} cannot be read: ${why}.` });
  }
}

function faultIn(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return (error as Error).message.slice(0, 200);
  }
}
