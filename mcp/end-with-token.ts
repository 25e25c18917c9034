import type { ServerResponse } from 'node:http';
import type { Caller } from '../core/base/caller.ts';
import type { MeshError } from '../core/base/errors.ts';
import type { Clock } from '../core/base/ports.ts';
import { expiredToken } from '../core/model/token-record.ts';

/** A timer does not hear that the clock went another way: it looks so often. */
const RECHECK_MS = 10_000;

/** Ends a stream with the token that opened it. */
export function endWithToken(
  response: ServerResponse,
  { expiresAt }: Caller,
  clock: Clock,
  end: (reason: MeshError) => void,
): void {
  if (expiresAt === undefined) return;
  let timer: NodeJS.Timeout;
  const look = () => {
    const left = expiresAt - clock.now();
    if (left <= 0) end(expiredToken());
    else timer = setTimeout(look, Math.min(left, RECHECK_MS));
  };
  look();
  response.once('close', () => clearTimeout(timer));
}

/**
 * Returns whom a stream lasts as long as: a client of OAuth renews its token meanwhile, so its streams end with the grant. Of a
 * grant at another authorization server the tokens alone tell that it stands, so they end with the token.
 */
export async function lastingCaller(caller: Caller): Promise<Caller> {
  return (caller.audience === undefined ? undefined : await caller.again?.()) ?? caller;
}
