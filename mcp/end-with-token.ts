import type { ServerResponse } from 'node:http';
import type { Caller } from '../core/base/caller.ts';
import type { MeshError } from '../core/base/errors.ts';
import { expiredToken } from '../core/model/token-record.ts';

/** The longest delay that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Ends a stream with the token that opened it. */
export function endWithToken(
  response: ServerResponse,
  { expiresAt }: Caller,
  now: number,
  end: (reason: MeshError) => void,
): void {
  if (expiresAt === undefined) return;
  const expiry = setTimeout(() => end(expiredToken()), Math.min(expiresAt - now, MAX_TIMER_MS));
  response.once('close', () => clearTimeout(expiry));
}
