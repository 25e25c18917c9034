import { errors, type JWTVerifyGetKey, type JWTVerifyResult, jwtVerify } from 'jose';
import type { Clock } from '../../core/base/ports.ts';
import { WORKLOAD_SKEW_S } from '../../core/model/workload-identity.ts';
import type { IssuerKeys, KeySource } from './issuer-keys.ts';

/** By keys that an issuer publishes: never by a secret that both sides know. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** The issuer and the addresses of which a token has to be for one. */
export interface Expected {
  readonly issuer: string;
  readonly audiences: readonly string[];
}

/** Verifies signature, algorithm, issuer, audience and times. @throws Error of jose, see {@link reasonOf} */
export function verifyBy(
  keys: JWTVerifyGetKey,
  token: string,
  { issuer, audiences }: Expected,
  clock: Clock,
): Promise<JWTVerifyResult> {
  return jwtVerify(token, keys, {
    ...{ issuer, audience: [...audiences], algorithms: ALGORITHMS },
    ...{ clockTolerance: WORKLOAD_SKEW_S, currentDate: new Date(clock.now()), requiredClaims: ['exp', 'iat'] },
  });
}

/** As {@link verifyBy}, by the keys that the issuer publishes, which is asked again where none of them is that of a token. */
export async function verifyByIssuer(
  published: IssuerKeys,
  token: string,
  expected: Expected & Pick<KeySource, 'ca'>,
  clock: Clock,
): Promise<JWTVerifyResult> {
  const { issuer, ca } = expected;
  try {
    return await verifyBy(await published.of({ issuer, ca }), token, expected, clock);
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    return verifyBy(await published.of({ issuer, ca }, true), token, expected, clock);
  }
}

/** Returns why a token does not count, after “it does not count:”. */
export function reasonOf(error: unknown, { issuer, audiences }: Expected): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return `its audience is not this control plane, which is ${audiences.join(' or ')}`;
    if (error.claim === 'iss') return `it is not of ${issuer}`;
    return `its claim ${error.claim} is missing, or not yet valid`;
  }
  if (error instanceof errors.JWKSNoMatchingKey) return `it is signed by no key of ${issuer}`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not accepted';
  return 'it is no signed token';
}
