import { hash } from 'node:crypto';
import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { hasEnded } from '../base/time.ts';
import { parseToken, withoutAddress } from '../model/token.ts';
import { expiredToken } from '../model/token-record.ts';
import { buildCredentialCache, type Verification } from './credential-cache.ts';
import { type IssuedServices, type LetClientIn, verifyIssuedAccess } from './issued-access.ts';
import { verifySession } from './session-caller.ts';
import { buildSessionUse } from './session-use.ts';
import { verifyToken } from './token-caller.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

/** Longer than any token that this installation issues. */
const MAX_BEARER_LENGTH = 1_024;
/** Access tokens of another authorization server have as many claims as it likes. */
const MAX_ISSUED_LENGTH = 8_192;

export interface AuthenticationOptions {
  /** False to check a session again after its request, which is no use of it. */
  readonly isUse?: boolean;
  /** Tells whether a token for one resource is for this one; no such token counts without. */
  readonly accepts?: (audience: string) => boolean;
}

export interface Authenticator {
  /**
   * Returns the caller that a bearer token proves.
   *
   * @throws MeshError `unauthenticated` with what to do
   */
  authenticate(bearer: string, origin: string, options?: AuthenticationOptions): Promise<Caller>;
  /** Ends sessions that are not used, and keeps when the others were. */
  flushSessions(options?: { readonly isLast?: boolean }): Promise<void>;
  /** Returns the caller of a bearer token that was verified lately; undefined where that is not cached. */
  known(bearer: string): Caller | undefined;
  close(): void;
}

/**
 * Verifies sessions and tokens. What was verified is remembered under its hash until a record that it rests on changes
 * or its time is over, so that a request costs one hash and one look-up.
 */
export function buildAuthenticator(
  services: IssuedServices,
  directory: WorkspaceDirectory,
  letIn: LetClientIn,
): Authenticator {
  const { store, clock, accessTokens } = services;
  const cache = buildCredentialCache(store);
  const uses = buildSessionUse(services);
  const maxLength = accessTokens ? MAX_ISSUED_LENGTH : MAX_BEARER_LENGTH;

  function verify(
    bearer: string,
    origin: string,
    { isUse = true, accepts }: AuthenticationOptions,
  ): Promise<Verification> {
    const form = parseToken(bearer);
    if (form) return verifyToken(services, directory, bearer, form.kind);
    if (!accessTokens?.isOf(bearer)) return verifySession(services, directory, bearer, uses);
    // Elsewhere it makes nothing either.
    if (!accepts) throw new MeshError('unauthenticated', 'This access token counts at /mcp alone: send it there.');
    return verifyIssuedAccess(services, directory, { bearer, origin, letIn: isUse ? letIn : undefined });
  }

  async function authenticate(given: string, origin: string, options: AuthenticationOptions = {}): Promise<Caller> {
    const { isUse = true, accepts = () => false } = options;
    if (given.length > maxLength) throw tooLong(maxLength);
    const bearer = withoutAddress(given);
    const key = keyOf(bearer);
    const caller = cache.get(key) ?? (await cache.load(key, () => verify(bearer, origin, options)));
    if (hasEnded(caller, clock.now())) {
      cache.forget(key);
      throw expiredToken();
    }
    if (caller.audience !== undefined && !accepts(caller.audience)) {
      throw new MeshError('unauthenticated', `This token is for ${caller.audience} alone: send it there.`);
    }
    if (isSession(caller) && !uses.goesOn(caller.tokenId, isUse)) {
      // A session that was evicted, or used elsewhere, is verified again, which makes it known again; an idle one is refused.
      await verify(bearer, origin, options);
      uses.goesOn(caller.tokenId, isUse);
    }
    return { again: () => authenticate(bearer, origin, { isUse: false }), ...caller };
  }

  return {
    authenticate,
    known: (bearer) => (bearer.length > maxLength ? undefined : cache.get(keyOf(withoutAddress(bearer)))),
    flushSessions: uses.flush,
    close: cache.close,
  };
}

function tooLong(most: number): MeshError {
  return new MeshError(
    'unauthenticated',
    `This token is longer than any that counts here: ${most} characters at most.`,
  );
}

function isSession({ kind, interactive }: Caller): boolean {
  return kind === 'user' && interactive;
}

function keyOf(bearer: string): string {
  return hash('sha256', bearer, 'base64');
}
