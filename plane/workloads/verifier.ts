import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { MeshError } from '../../core/base/errors.ts';
import type { Clock, FetchDocument } from '../../core/base/ports.ts';
import type { Settings } from '../../core/model/services.ts';
import type { WorkloadClaims, WorkloadVerifier } from '../../core/model/workload-identity.ts';
import { buildFetchDocument } from '../outgoing/document.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { reasonOf, verifyBy, verifyByIssuer } from './signed-tokens.ts';
import { buildTokenReview, type ReviewToken } from './token-review.ts';

type Verified = Parameters<WorkloadVerifier['verify']>[1];

export interface VerifierOptions {
  readonly settings: Pick<Settings, 'apiUrl' | 'publicUrls' | 'webhookAllow'>;
  readonly clock: Clock;
  readonly fetchDocument?: FetchDocument;
  readonly reviewToken?: ReviewToken;
}

/** Verifies OIDC tokens that are for this control plane, under any of its addresses. */
export function buildWorkloadVerifier({
  settings,
  clock,
  fetchDocument = buildFetchDocument({ allow: settings.webhookAllow }),
  reviewToken = buildTokenReview({ clusters: [] }),
}: VerifierOptions): WorkloadVerifier {
  const published = new IssuerKeys(fetchDocument, () => clock.now());
  // The port is known once the control plane listens.
  const ownOrigins = () => {
    const urls = [settings.apiUrl, ...(settings.publicUrls ?? [])];
    return [...new Set(urls.flatMap((url) => URL.parse(url)?.origin ?? []))];
  };
  const isOwn = (audience: unknown) => ownOrigins().some((origin) => audience === origin || audience === `${origin}/`);

  const ownAudiences = () => ownOrigins().flatMap((origin) => [origin, `${origin}/`]);

  async function claimsOf(token: string, { issuer, keys, ca, tokenReview }: Verified): Promise<WorkloadClaims> {
    const expected = { issuer, audiences: ownAudiences() };
    if (tokenReview !== undefined) return reviewToken(tokenReview, token, expected);
    const { payload } = keys
      ? await verifyBy(createLocalJWKSet({ keys } as JSONWebKeySet), token, expected, clock)
      : await verifyByIssuer(published, token, { ...expected, ca }, clock);
    return payload;
  }

  return {
    async verify(token, of) {
      const claims = await claimsOf(token, of).catch((error: unknown) => {
        if (error instanceof MeshError) throw error;
        const reason = reasonOf(error, { issuer: of.issuer, audiences: ownOrigins() });
        throw new MeshError('unauthenticated', `This identity token does not count: ${reason}.`);
      });
      // One that is for others too could be theirs, who would be let in by it.
      if (![claims['aud']].flat().every(isOwn)) {
        throw new MeshError(
          'unauthenticated',
          'This identity token is for others too: have one issued for this control plane alone.',
        );
      }
      return claims;
    },
  };
}
