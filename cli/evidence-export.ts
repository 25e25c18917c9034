import { createHash, randomBytes } from 'node:crypto';
import { accessSync, constants, createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { archiveName } from '../core/evidence/archive.ts';
import { verifyArchive } from '../core/evidence/verify/verify-archive.ts';
import type { Answer } from './answer.ts';
import { openEvidence } from './evidence-file.ts';
import { fingerprintOf } from './evidence-keys.ts';
import { CliError, EXIT } from './exit.ts';
import { momentOf } from './moments.ts';
import { servedKeys } from './served-log.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { originIn, storedStatesOf } from './stored-log-states.ts';
import { callInWorkspace } from './workspace.ts';

export interface ExportOptions extends TargetOptions {
  readonly id?: string;
  readonly from?: string | undefined;
  readonly to?: string;
  readonly output?: string;
  readonly force?: boolean;
}

const EVIDENCE = '/api/v1/ai/compliance/evidence';
const NAME = /^mesh-compliance-evidence-\d{4}-\d\d-\d\d\.zip$/;
const OTHER_NAME = 'mesh-compliance-evidence.zip';
/** As long as the control plane takes for one at most. */
const TIMEOUT_MS = 30 * 60_000;

/** Writes beside the file and renames: under its name stands the whole, verified, or what was there. */
export async function exportEvidence(framework: string | undefined, options: ExportOptions): Promise<Answer> {
  const { output = '.', force = false } = options;
  const body = bodyOf(framework, options);
  const isDirectory = statSync(output, { throwIfNoEntry: false })?.isDirectory() ?? false;
  // Before it is asked for: the control plane assesses and keeps what it sends.
  requireWritable(isDirectory ? output : path.dirname(output));
  if (!isDirectory) requireFree(output, force);
  else if (options.id === undefined) requireFree(path.join(output, nameToday()), force);
  const target = targetOf(options);
  const request = { method: 'post', path: EVIDENCE, body, timeoutMs: TIMEOUT_MS, asResponse: true } as const;
  const response = (await callInWorkspace(target, request)) as Response;
  const file = isDirectory ? path.join(output, nameIn(response)) : output;
  requireFree(file, force);
  const draft = `${file}.${randomBytes(6).toString('hex')}.part`;
  try {
    const sha256 = await write(response, draft);
    const keys = new Set((await servedKeys(target)).map(({ publicKey }) => fingerprintOf(publicKey)));
    const archive = await openEvidence(draft);
    const report = await originIn(archive)
      .then((origin) => verifyArchive(archive, (key) => keys.has(key), storedStatesOf(origin)))
      .finally(() => archive.close());
    const [fault] = report.findings;
    if (fault) throw new CliError(`What ${target.server} sent does not verify: ${fault.message}`, EXIT.negative);
    requireFree(file, force);
    renameSync(draft, file);
    const { evidenceId, fingerprint, files } = report;
    const value = { file, evidence_id: evidenceId, files, sha256, key_fingerprint: fingerprint };
    const text = [
      `${file}: ${evidenceId}, ${files} files`,
      `SHA-256 ${sha256}`,
      `Signed by ${fingerprint}: hand this to the auditor by another way than the file.`,
      `Verify it with VERIFY.md in it, or: mesh evidence verify ${file} --key ${fingerprint}`,
    ];
    return { value, text };
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function bodyOf(framework: string | undefined, { id, from, to }: ExportOptions): Readonly<Record<string, string>> {
  if (id !== undefined) {
    if (framework === undefined && from === undefined && to === undefined) return { evidence_id: id };
    throw new CliError('--id names an assessment with its framework and period: give it alone.', EXIT.input);
  }
  if (framework === undefined) throw new CliError('Name a framework (pci-dss, soc2, hipaa), or give --id.', EXIT.input);
  return {
    framework,
    period_start: momentOf(from ?? '', '--from'),
    ...(to !== undefined && { period_end: momentOf(to, '--to') }),
  };
}

/** @throws CliError where the archive is cut or cannot be written */
async function write(response: Response, draft: string): Promise<string> {
  const hash = createHash('sha256');
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600 });
  const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
  let isWriting = true;
  file.once('error', () => {
    isWriting = false;
  });
  const counted = async function* (pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
  };
  try {
    await pipeline(body, counted, file);
  } catch (error) {
    const { message } = error as Error;
    if (!isWriting) throw new CliError(`Cannot write ${draft}: ${message}`, EXIT.input);
    throw new CliError(`The archive was cut off (${message}): nothing was kept of it. Try again.`, EXIT.unavailable);
  }
  return hash.digest('hex');
}

/** Returns the file name that a server suggests, if it is the name of an archive and nothing else. */
function nameIn(response: Response): string {
  const [, name = ''] = /filename="([^"]*)"/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  return NAME.test(name) ? name : OTHER_NAME;
}

/** Returns the name of an assessment made now, provided that the control plane has the same date. */
function nameToday(): string {
  return archiveName({ generated_at: new Date().toISOString() });
}

/** @throws CliError */
function requireWritable(directory: string): void {
  try {
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw new CliError(`Cannot write into ${directory}: ${(error as Error).message}`, EXIT.input);
  }
}

function requireFree(file: string, force: boolean): void {
  if (force || !existsSync(file)) return;
  throw new CliError(`${file} is there already: name another file, or give --force.`, EXIT.input);
}
