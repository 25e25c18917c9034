import { existsSync, statSync } from 'node:fs';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import type { LastingHeads } from '../../core/audit/log-keys.ts';
import { StoreError } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import { requireCredentials } from '../../storage/credentials.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { DamageError } from '../../storage/sqlite/database.ts';
import { hasEntries, lossesOfFile } from '../../storage/sqlite/losses.ts';
import { entriesLost, lossLine } from './loss-words.ts';
import { damageRefusal, keyRefusal, lossRefusal, type Missing, type Place } from './refusals.ts';

export interface Judgement {
  /** Whether it has credentials.json. */
  readonly hasKeys: boolean;
  /** Why a start needs --accept-loss, and what else can be done; undefined where nothing is missing. */
  readonly refusal: string | undefined;
}

/**
 * Holds an installation against what is known of it apart from its database (docs/reliability.md). Nothing is written.
 *
 * @param file of the database; undefined for one in memory, or on servers
 * @throws Error where a start is refused with --accept-loss too
 */
export async function judgeInstallation(configDir: string, file: string | undefined): Promise<Judgement> {
  const hasKeys = requireCredentials(configDir);
  if (file === undefined) return { hasKeys, refusal: undefined };
  const place = { configDir, file };
  return explaining(place, async () => {
    if (!hasKeys) return { hasKeys, refusal: hasEntries(file) ? keyRefusal(place) : undefined };
    const missing = await missingIn(file, headsIn(configDir));
    return { hasKeys, refusal: missing && (await lossRefusal(place, missing)) };
  });
}

/** Why no control plane starts there as it is, and what to do. */
export async function whyNoStart(configDir: string, file: string | undefined): Promise<string | undefined> {
  try {
    return (await judgeInstallation(configDir, file)).refusal;
  } catch (error) {
    return error instanceof StoreError ? error.subject : (error as Error).message;
  }
}

/** Says of a file that turns out to be damaged what it can be restored from. */
export async function explaining<T>(place: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    throw new Error(await damageRefusal(place, error.what), { cause: error });
  }
}

async function missingIn(file: string, heads: LastingHeads): Promise<Missing | undefined> {
  const losses = statSync(file, { throwIfNoEntry: false })?.size ? await lossesOfFile(file, heads.all()) : undefined;
  if (losses === undefined) return missingFile(file, heads);
  return losses.length === 0 ? undefined : { lines: losses.map(lossLine), entries: entriesLost(losses) };
}

function missingFile(file: string, heads: LastingHeads): Missing {
  const what = existsSync(file) ? 'is empty' : 'is not there';
  const known = heads.all();
  if (known.length === 0) {
    return { lines: [`the file ${what}, and credentials.json shows that there was one`], entries: undefined };
  }
  const entries = known.reduce((sum, { note }) => sum + (readCheckpoint(note)?.size ?? 0), 0);
  const last = formatInstant(Math.max(...known.map(({ at }) => at)));
  return { lines: [`the file ${what}; on ${last} its logs had ${entries} entries`], entries };
}
