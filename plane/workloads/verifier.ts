import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { MeshError } from '../../core/base/errors.ts';
import type { Clock, FetchDocument } from '../../core/base/ports.ts';
import type { Settings } from '../../core/model/services.ts';
import type { WorkloadVerifier } from '../../core/model/workload-identity.ts';
import { buildFetchDocument } from '../outgoing/document.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { reasonOf, verifyBy, verifyByIssuer } from './signed-tokens.ts';

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

  return {
    async verify(token, { issuer, keys }) {
      const expected = { issuer, audiences: ownOrigins().flatMap((origin) => [origin, `${origin}/`]) };
      const verified = keys
        ? verifyBy(createLocalJWKSet({ keys } as JSONWebKeySet), token, expected, clock)
        : verifyByIssuer(published, token, expected, clock);
      const { payload } = await verified.catch((error: unknown) => {
        if (error instanceof MeshError) throw error;
        const reason = reasonOf(error, { issuer, audiences: ownOrigins() });
        throw new MeshError('unauthenticated', `This identity token does not count: ${reason}.`);
      });
      // One that is for others too could be theirs, who would be let in by it.
      if (![payload.aud].flat().every(isOwn)) {
        throw new MeshError(
          'unauthenticated',
          'This identity token is for others too: have one issued for this control plane alone.',
        );
      }
      return payload;
    },
  };
}
