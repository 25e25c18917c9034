import { hash } from 'node:crypto';
import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { isLoopback } from '../base/origin.ts';
import { parseToken } from '../model/token.ts';
import { expiredToken, unknownToken } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';
import { buildCredentialCache, type Verified } from './credential-cache.ts';
import { verifySession } from './session-caller.ts';
import { verifyToken } from './token-caller.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

/** Longer than any token that was ever issued. */
const MAX_BEARER_LENGTH = 1_024;

export interface Authenticator {
  /** Who a bearer token speaks for. @throws MeshError `unauthenticated` with what to do */
  authenticate(bearer: string, origin: string): Promise<Caller>;
  /** Who it spoke for when it was verified lately; undefined where that is not remembered. */
  known(bearer: string): Caller | undefined;
  close(): void;
}

/**
 * Verifies sessions and tokens. What was verified is remembered under its hash until a record that it rests on changes
 * or its time is over, so that a request costs one hash and one look-up.
 */
export function buildAuthenticator(
  services: Pick<NetworkServices, 'store' | 'clock' | 'keys'>,
  directory: WorkspaceDirectory,
): Authenticator {
  const { store, clock } = services;
  const cache = buildCredentialCache(store);

  function verify(bearer: string): Promise<Verified> {
    const form = parseToken(bearer);
    return form ? verifyToken(services, directory, bearer, form.kind) : verifySession(services, directory, bearer);
  }

  async function authenticate(bearer: string, origin: string): Promise<Caller> {
    if (bearer.length > MAX_BEARER_LENGTH) throw unknownToken();
    const key = keyOf(bearer);
    const caller = cache.get(key) ?? (await cache.load(key, () => verify(bearer)));
    if (caller.expiresAt !== undefined && clock.now() >= caller.expiresAt) {
      cache.forget(key);
      throw expiredToken();
    }
    if (caller.mustChangePassword && !isLoopback(origin)) {
      throw new MeshError('forbidden', 'The built-in password works from the control plane itself only.');
    }
    return { ...caller, again: () => authenticate(bearer, origin) };
  }

  return {
    authenticate,
    known: (bearer) => (bearer.length > MAX_BEARER_LENGTH ? undefined : cache.get(keyOf(bearer))),
    close: cache.close,
  };
}

function keyOf(bearer: string): string {
  return hash('sha256', bearer, 'base64');
}
