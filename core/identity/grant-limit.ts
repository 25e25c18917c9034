import { apiTokenOf, type Caller } from '../base/caller.ts';
import { roughDuration } from '../base/duration.ts';
import { MeshError } from '../base/errors.ts';
import type { RecordDraft } from '../base/record.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import { type TokenRecord, unknownToken } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';

type Reads = Pick<NetworkServices, 'store' | 'clock'>;

/**
 * Returns when agents and tokens that this caller makes end at the latest, ms: with the API token that made them, or within
 * its `maxGrant`. Undefined for callers other than API tokens.
 */
export async function grantLimit(
  { store, clock }: Reads,
  workspace: string,
  caller: Caller,
): Promise<number | undefined> {
  const id = apiTokenOf(caller);
  if (id === undefined) return undefined;
  return grantLimitOf(await store.getById(workspace, 'Token', id), clock.now());
}

/** As {@link grantLimit}, for the record of the API token. @throws MeshError where it is gone */
export function grantLimitOf(token: TokenRecord | undefined, now: number): number {
  if (!token) throw unknownToken();
  const { maxGrant, expiresAt = 0 } = token.spec;
  return maxGrant === undefined ? expiresAt : now + maxGrant;
}

/**
 * Checks that what a caller makes ends in time.
 *
 * @param limit from {@link grantLimit}
 * @throws MeshError `forbidden` that says the limit
 */
export function requireWithinLimit(expiresAt: number, limit: number | undefined, now: number): void {
  if (limit === undefined || expiresAt <= limit) return;
  throw new MeshError(
    'forbidden',
    `This API token makes agents and tokens that end by ${formatInstant(limit)}, in ${roughDuration(Math.max(0, limit - now))}, at the latest: ask for less, sign in, or use a token with a longer maxGrant.`,
  );
}

/** Returns when a credential in a record ends, ms; undefined for records that hold none, and for tokens of devices. */
export function credentialEnd(record: RecordDraft): number | undefined {
  if (record.kind === 'AgentIdentity') return parseInstant(record.spec.expiresAt);
  if (record.kind !== 'Token' || record.spec.kind === 'dev') return undefined;
  return record.spec.expiresAt ?? Number.POSITIVE_INFINITY;
}
