import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { rootOfLeaves, type SeenLog } from '../core/audit/findings.ts';
import { decodeTile } from '../core/audit/tiles.ts';
import { CliError, EXIT } from './exit.ts';
import { sessionFile, writePrivate } from './session.ts';

/** What this machine keeps of a log that it verified, to hold the next one against. */
export interface KeptLog extends SeenLog {
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

const keptShape = z.object({
  origin: z.string(),
  at: z.number(),
  note: z.string(),
  key: z.string(),
  leaves: z.base64(),
});

/** @throws CliError where the file is damaged: what it would show is gone */
export function keptLog(origin: string): KeptLog | undefined {
  const file = fileOf(origin);
  return existsSync(file) ? read(file) : undefined;
}

/** Those of a workspace, whichever control planes they are of. */
export function keptLogsOf(workspace: string): KeptLog[] {
  const folder = path.dirname(fileOf(''));
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  return files.map((name) => read(path.join(folder, name))).filter(({ origin }) => origin.endsWith(`/${workspace}`));
}

/** @returns the file */
export function keepLog({ origin, at, note, key, leaves }: Omit<KeptLog, 'size' | 'root' | 'by'>): string {
  const file = fileOf(origin);
  const kept = { origin, at, note, key, leaves: Buffer.concat(leaves).toString('base64') };
  writePrivate(file, `${JSON.stringify(kept)}\n`);
  return file;
}

/** Beside the session of `mesh login`. */
function fileOf(origin: string): string {
  const name = createHash('sha256').update(origin).digest('hex').slice(0, NAME_DIGITS);
  return path.join(path.dirname(sessionFile()), 'logs', `${name}.json`);
}

function read(file: string): KeptLog {
  try {
    const { leaves: text, ...kept } = keptShape.parse(JSON.parse(readFileSync(file, 'utf8')));
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
