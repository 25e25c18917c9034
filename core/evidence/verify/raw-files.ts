import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Checkpoint } from '../../audit/checkpoint.ts';
import { decodeBase64 } from '../../audit/note.ts';
import { parseInstant } from '../../base/time.ts';
import { ASSESSMENT_PATH, CHECKPOINT_PATH, metaPath } from '../layout.ts';
import { parsed } from './attestation.ts';
import type { CheckedFiles } from './checked-files.ts';
import { LogLines } from './log.ts';
import { type ReportedRows, type RowCounter, TimelineRows, WorkflowRows, YamlDocuments } from './rows.ts';
import { compareWithStored, type StoredLog } from './stored-log.ts';

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
const TIMELINE_PATH = 'raw-data/snapshots-timeline.json';
const WORKFLOWS_PATH = 'raw-data/workflow-audit-log.csv';

/** The facts that the populations must agree with. */
interface Rest {
  readonly checkpoint: Checkpoint | undefined;
  readonly evidenceId: string;
  /** The assessed period, ISO 8601; undefined where it cannot be read. */
  readonly period: { readonly start: string; readonly end: string } | undefined;
  readonly seen: readonly StoredLog[];
}

/** Checks the populations, their rows and the log. @returns the digests of the files that were read on the way */
export function checkRawFiles(files: CheckedFiles, rest: Rest): Promise<ReadonlyMap<string, string>> {
  return new RawCheck(files, rest).check();
}

class RawCheck {
  readonly #files: CheckedFiles;
  readonly #rest: Rest;

  constructor(files: CheckedFiles, rest: Rest) {
    this.#files = files;
    this.#rest = rest;
  }

  async check(): Promise<ReadonlyMap<string, string>> {
    const { checkpoint, evidenceId, period: assessed } = this.#rest;
    const digests = new Map<string, string>();
    const logMeta = await this.#meta(LOG_PATH);
    if (!logMeta) return digests;
    const log = this.#logOf(logMeta);
    if (!log) return digests;
    await this.#rows(LOG_PATH, logMeta, log, digests);
    this.#checkLog(log, logMeta, checkpoint, evidenceId);
    if (checkpoint) this.#holdAgainstSeen(checkpoint.origin, log);
    const period = { from: logMeta.period.start, to: logMeta.period.end };
    if (assessed && (parseInstant(assessed.start) !== period.from || parseInstant(assessed.end) !== period.to)) {
      this.#files.findings.push({
        code: 'meta',
        message: `${metaPath(LOG_PATH)} has another period than ${ASSESSMENT_PATH}.`,
      });
    }
    const [timeline, workflows] = [new TimelineRows(log, period), new WorkflowRows(log)];
    const others: readonly (readonly [string, RowCounter])[] = [
      ['raw-data/policies-current.yaml', new YamlDocuments()],
      [TIMELINE_PATH, timeline],
      [WORKFLOWS_PATH, workflows],
    ];
    for (const [path, counter] of others) {
      const meta = await this.#meta(path);
      if (!meta) continue;
      await this.#rows(path, meta, counter, digests);
      if (JSON.stringify([meta.log_range, meta.period]) !== JSON.stringify([logMeta.log_range, logMeta.period])) {
        this.#files.findings.push({
          code: 'meta',
          message: `${metaPath(path)} has another period or part of the log than that of ${LOG_PATH}.`,
        });
      }
    }
    this.#checkPopulation(TIMELINE_PATH, 'snapshots', timeline);
    this.#checkPopulation(WORKFLOWS_PATH, 'workflows', workflows);
    return digests;
  }

  async #meta(path: string): Promise<Meta | undefined> {
    const text = await this.#files.text(metaPath(path));
    if (text === undefined) return undefined;
    const meta = parsed(metaShape as unknown as z.ZodType<Meta>, text);
    const fault = typeof meta === 'string' ? meta : meta.file === path ? undefined : 'it is about another file';
    if (typeof meta !== 'string' && fault === undefined) return meta;
    this.#files.findings.push({ code: 'meta', message: `${metaPath(path)} is not as it was written: ${fault}.` });
    return undefined;
  }

  #logOf({ log_range: { first_seq, before } }: Meta): LogLines | undefined {
    try {
      const hashes = before.map((text) => decodeBase64(text)).filter((hash) => hash?.length === 32) as Uint8Array[];
      return new LogLines(
        first_seq,
        hashes,
        this.#rest.seen.map(({ size }) => size),
      );
    } catch (error) {
      this.#files.findings.push({ code: 'log', message: `${metaPath(LOG_PATH)}: ${(error as Error).message}.` });
      return undefined;
    }
  }

  async #rows(path: string, meta: Meta, counter: RowCounter, digests: Map<string, string>): Promise<void> {
    if (!this.#files.names.has(path)) return;
    const hash = createHash('sha256');
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    let fault: string | undefined;
    try {
      for await (const bytes of this.#files.read(path)) {
        hash.update(bytes);
        fault ??= faultIn(() => counter.read(decoder.decode(bytes, { stream: true })));
      }
      fault ??= faultIn(() => counter.end());
    } catch (error) {
      this.#files.unreadable(path, error);
      return;
    }
    const digest = hash.digest('hex');
    digests.set(path, digest);
    if (fault !== undefined)
      this.#files.findings.push({ code: 'rows', message: `${path} is not as it was written: ${fault}.` });
    if (meta.sha256 !== digest)
      this.#files.findings.push({ code: 'meta', message: `${metaPath(path)} has another digest than ${path}.` });
    if (meta.row_count !== counter.count) {
      const message = `${metaPath(path)} says ${meta.row_count} rows, ${path} has ${counter.count}.`;
      this.#files.findings.push({ code: 'meta', message });
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
      if (isWrong) this.#files.findings.push({ code: 'log', message: `${LOG_PATH}: ${message}` });
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
    this.#files.notes.push(
      `${log.count} entries of the audit log, ${range.first_seq} to ${range.last_seq}, make up the root of the checkpoint: none of the period is missing.`,
    );
  }

  #checkPopulation(path: string, what: string, { unknown, missing }: ReportedRows): void {
    if (unknown.count > 0) {
      const message = `${path} has ${unknown.count} rows that the log does not tell of, the first ${unknown.first}.`;
      this.#files.findings.push({ code: 'rows', message });
    }
    if (missing.length > 0) {
      const message = `${path} lacks ${missing.length} ${what} that the log tells of, the first ${missing[0]}.`;
      this.#files.findings.push({ code: 'rows', message });
    }
  }

  #holdAgainstSeen(origin: string, log: LogLines): void {
    for (const seen of this.#rest.seen) {
      const held = compareWithStored(seen, origin, log);
      if ('finding' in held) this.#files.findings.push(held.finding);
      else this.#files.notes.push(held.note);
    }
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
