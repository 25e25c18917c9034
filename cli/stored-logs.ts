import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { rootOfLeaves, type StoredLogState } from '../core/audit/findings.ts';
import { decodeTile } from '../core/audit/tiles.ts';
import { CliError, EXIT } from './exit.ts';
import { sessionFile, writePrivate } from './session.ts';

/** The state of a verified log that this machine stores, to compare the next one with. */
export interface VerifiedLog extends StoredLogState {
  readonly origin: string;
  readonly at: number;
  /** The signed checkpoint. */
  readonly note: string;
  /** The key that signed it, base64. */
  readonly key: string;
  readonly leaves: readonly Uint8Array[];
}

const HASH_BYTES = 32;
const NAME_DIGITS = 32;

const logShape = z.object({
  origin: z.string(),
  at: z.number(),
  note: z.string(),
  key: z.string(),
  leaves: z.base64(),
});

/** @throws CliError where the file is damaged: what it would show is gone */
export function storedLog(origin: string): VerifiedLog | undefined {
  const file = fileOf(origin);
  return existsSync(file) ? read(file) : undefined;
}

/** All that this machine keeps, whichever control planes they are of. */
export function storedLogs(): VerifiedLog[] {
  const folder = path.dirname(fileOf(''));
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => LOG_FILE.test(name)) : [];
  return files.map((name) => read(path.join(folder, name)));
}

/** The workspace whose log has this origin. */
export function workspaceOf(origin: string): string {
  return origin.split('/').at(-1) ?? '';
}

/** Where a log was asked for: what a server says its name is does not choose what it is held against. */
export interface LogRequest {
  readonly server: string;
  /** Workspace as it was named, or `installation`; empty where the token is of one alone. */
  readonly asked: string;
}

const requestShape = z.object({ origin: z.string() });

/** The origin of the log that was seen there. @throws CliError where the file is damaged */
export function storedOriginAt(place: LogRequest): string | undefined {
  const file = requestFile(place);
  if (!existsSync(file)) return undefined;
  const { data } = requestShape.safeParse(parsed(file));
  if (data) return data.origin;
  throw new CliError(`${file} is damaged: move it away to begin anew; what it would show is lost.`, EXIT.input);
}

/** @returns the file */
export function storeLog(
  { origin, at, note, key, leaves }: Omit<VerifiedLog, 'size' | 'root' | 'by'>,
  place: LogRequest,
): string {
  const file = fileOf(origin);
  const kept = { origin, at, note, key, leaves: Buffer.concat(leaves).toString('base64') };
  writePrivate(file, `${JSON.stringify(kept)}\n`);
  writePrivate(requestFile(place), `${JSON.stringify({ ...place, origin })}\n`);
  return file;
}

const LOG_FILE = /^[0-9a-f]+\.json$/;

/** Beside the session of `mesh login`. */
function fileOf(origin: string): string {
  return inFolder(`${digestOf(origin)}.json`);
}

export function requestFile({ server, asked }: LogRequest): string {
  return inFolder(`at-${digestOf(`${URL.parse(server)?.origin ?? server}\n${asked}`)}.json`);
}

function inFolder(name: string): string {
  return path.join(path.dirname(sessionFile()), 'logs', name);
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS);
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function read(file: string): VerifiedLog {
  try {
    const { leaves: text, ...kept } = logShape.parse(JSON.parse(readFileSync(file, 'utf8')));
    const bytes = Buffer.from(text, 'base64');
    const leaves = decodeTile(bytes, bytes.length / HASH_BYTES);
    if (!leaves) throw new TypeError('its hashes are cut');
    return { ...kept, size: leaves.length, root: rootOfLeaves(leaves), by: 'This machine', leaves };
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : String(error);
    throw new CliError(
      `${file} is damaged (${why}): move it away to begin anew; what it would show is lost.`,
      EXIT.input,
    );
  }
}
