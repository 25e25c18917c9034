import { hash } from 'node:crypto';
import type { Caller } from '../base/caller.ts';
import { hasEnded } from '../base/time.ts';
import { parseToken, withoutAddress } from '../model/token.ts';
import { expiredToken, unknownToken } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';
import { buildCredentialCache, type Verified } from './credential-cache.ts';
import { verifySession } from './session-caller.ts';
import { buildSessionUse } from './session-use.ts';
import { verifyToken } from './token-caller.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

/** Longer than any token that was ever issued. */
const MAX_BEARER_LENGTH = 1_024;

export interface Authenticator {
  /**
   * Who a bearer token speaks for. Being looked at again, for what goes on after its request, is no use of a session.
   *
   * @throws MeshError `unauthenticated` with what to do
   */
  authenticate(bearer: string, origin: string, options?: { readonly isUse: boolean }): Promise<Caller>;
  /** Ends sessions that are not used, and keeps when the others were. */
  flushSessions(options?: { readonly isLast?: boolean }): Promise<void>;
  /** Who it spoke for when it was verified lately; undefined where that is not remembered. */
  known(bearer: string): Caller | undefined;
  close(): void;
}

/**
 * Verifies sessions and tokens. What was verified is remembered under its hash until a record that it rests on changes
 * or its time is over, so that a request costs one hash and one look-up.
 */
export function buildAuthenticator(
  services: Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'settings'>,
  directory: WorkspaceDirectory,
): Authenticator {
  const { store, clock } = services;
  const cache = buildCredentialCache(store);
  const uses = buildSessionUse(services);

  function verify(bearer: string): Promise<Verified> {
    const form = parseToken(bearer);
    return form
      ? verifyToken(services, directory, bearer, form.kind)
      : verifySession(services, directory, bearer, uses);
  }

  async function authenticate(given: string, origin: string, { isUse } = { isUse: true }): Promise<Caller> {
    if (given.length > MAX_BEARER_LENGTH) throw unknownToken();
    const bearer = withoutAddress(given);
    const key = keyOf(bearer);
    const caller = cache.get(key) ?? (await cache.load(key, () => verify(bearer)));
    if (hasEnded(caller, clock.now())) {
      cache.forget(key);
      throw expiredToken();
    }
    if (isSession(caller) && !uses.goesOn(caller.tokenId, isUse)) {
      // One that made room, or was used elsewhere, is verified anew, by which it is known again; one that is idle is refused.
      await verify(bearer);
      uses.goesOn(caller.tokenId, isUse);
    }
    return { ...caller, again: () => authenticate(bearer, origin, { isUse: false }) };
  }

  return {
    authenticate,
    known: (bearer) => (bearer.length > MAX_BEARER_LENGTH ? undefined : cache.get(keyOf(withoutAddress(bearer)))),
    flushSessions: uses.flush,
    close: cache.close,
  };
}

function isSession({ kind, interactive }: Caller): boolean {
  return kind === 'user' && interactive;
}

function keyOf(bearer: string): string {
  return hash('sha256', bearer, 'base64');
}
