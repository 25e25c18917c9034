import { createHmac, randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { Clock } from '../../core/base/ports.ts';
import type { Secret } from '../../core/base/secret.ts';
import { type IssuedAccess, OWN_ACCESS_S } from '../../core/model/authorization-server.ts';

/** No other JWT of this installation is signed with the key, and nobody but this installation verifies it. */
const ALGORITHM = 'HS256';
const TYPE = 'at+jwt';

/** What {@link OwnAccessTokens.issue} signs. The facts of the assertion stand apart from the claims of the token. */
const payload = z.object({
  sub: z.string(),
  aud: z.string(),
  client_id: z.string(),
  exp: z.number(),
  asserted: z.object({
    /** Milliseconds. */
    issuedAt: z.number(),
    signedInAt: z.number().optional(),
    claims: z.record(z.string(), z.unknown()),
  }),
});

export interface OwnAccessTokens {
  readonly issuer: string;
  issue(access: Omit<IssuedAccess, 'expiresAt'>): Promise<string>;
  /** @throws Error of jose, see `reasonOf` */
  verify(token: string, audiences: readonly string[]): Promise<IssuedAccess>;
}

/**
 * Access tokens that this installation issues for identity assertions (RFC 9068). Nothing of them is stored.
 *
 * @param asserter issuer of the assertions: tokens end with it, because the next one may mean somebody else by the same subject
 */
export function buildOwnAccessTokens(issuer: string, asserter: string, secret: Secret, clock: Clock): OwnAccessTokens {
  const key = createHmac('sha256', secret.reveal()).update(asserter).digest();
  return {
    issuer,

    issue({ subject, clientId, resource, ...asserted }) {
      const now = Math.floor(clock.now() / 1_000);
      return new SignJWT({ client_id: clientId, asserted })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .setIssuer(issuer)
        .setSubject(subject)
        .setAudience(resource)
        .setJti(randomUUID())
        .setIssuedAt(now)
        .setExpirationTime(now + OWN_ACCESS_S)
        .sign(key);
    },

    async verify(token, audiences) {
      const expected = { issuer, audience: [...audiences], algorithms: [ALGORITHM], typ: TYPE };
      const verified = await jwtVerify(token, key, { ...expected, currentDate: new Date(clock.now()) });
      const { sub, aud, client_id, exp, asserted } = payload.parse(verified.payload);
      return { subject: sub, clientId: client_id, resource: aud, expiresAt: exp * 1_000, ...asserted };
    },
  };
}
