import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { MeshError } from '../../core/base/errors.ts';
import type { Clock, FetchDocument } from '../../core/base/ports.ts';
import type { Settings } from '../../core/model/services.ts';
import { WORKLOAD_SKEW_S, type WorkloadClaims, type WorkloadVerifier } from '../../core/model/workload-identity.ts';
import { buildFetchDocument } from '../outgoing/document.ts';
import { IssuerKeys } from './issuer-keys.ts';

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

export interface VerifierOptions {
  readonly settings: Pick<Settings, 'apiUrl' | 'publicUrls' | 'webhookAllow'>;
  readonly clock: Clock;
  readonly fetchDocument?: FetchDocument;
}

/** Verifies OIDC tokens that are for this control plane, under any of its addresses. */
export function buildWorkloadVerifier({
  settings,
  clock,
  fetchDocument = buildFetchDocument({ allow: settings.webhookAllow }),
}: VerifierOptions): WorkloadVerifier {
  const published = new IssuerKeys(fetchDocument, () => clock.now());
  // The port is known once the control plane listens.
  const ownOrigins = () => {
    const urls = [settings.apiUrl, ...(settings.publicUrls ?? [])];
    return [...new Set(urls.flatMap((url) => URL.parse(url)?.origin ?? []))];
  };
  const isOwn = (audience: unknown) => ownOrigins().some((origin) => audience === origin || audience === `${origin}/`);

  async function claimsBy(token: string, issuer: string, keys: JWTVerifyGetKey): Promise<WorkloadClaims> {
    const currentDate = new Date(clock.now());
    const { payload } = await jwtVerify(token, keys, {
      ...{ issuer, audience: ownOrigins().flatMap((origin) => [origin, `${origin}/`]), algorithms: ALGORITHMS },
      ...{ clockTolerance: WORKLOAD_SKEW_S, currentDate, requiredClaims: ['exp', 'iat'] },
    });
    return payload;
  }

  async function claimsOf(token: string, issuer: string, given?: readonly object[]): Promise<WorkloadClaims> {
    if (given) return claimsBy(token, issuer, createLocalJWKSet({ keys: given } as JSONWebKeySet));
    try {
      return await claimsBy(token, issuer, await published.of(issuer));
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      return claimsBy(token, issuer, await published.of(issuer, true));
    }
  }

  return {
    async verify(token, { issuer, keys }) {
      const claims = await claimsOf(token, issuer, keys).catch((error: unknown) => {
        if (error instanceof MeshError) throw error;
        throw new MeshError(
          'unauthenticated',
          `This identity token does not count: ${reasonOf(error, issuer, ownOrigins())}.`,
        );
      });
      // One that is for others too could be theirs, who would be let in by it.
      const { aud } = claims;
      if (![aud].flat().every(isOwn)) {
        throw new MeshError(
          'unauthenticated',
          'This identity token is for others too: have one issued for this control plane alone.',
        );
      }
      return claims;
    },
  };
}

function reasonOf(error: unknown, issuer: string, origins: readonly string[]): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return `its audience is not this control plane, which is ${origins.join(' or ')}`;
    if (error.claim === 'iss') return `it is not of ${issuer}`;
    return `its claim ${error.claim} is missing, or not yet valid`;
  }
  if (error instanceof errors.JWKSNoMatchingKey) return `it is signed by no key of ${issuer}`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not accepted';
  return 'it is no signed token';
}
