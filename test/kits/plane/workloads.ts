import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export const GITHUB = 'https://token.actions.githubusercontent.com';

/** As GitHub has them in the token of a job (docs.github.com, "OpenID Connect reference"). */
export const GITHUB_CLAIMS = {
  sub: 'repo:octo-org/octo-repo:ref:refs/heads/main',
  repository: 'octo-org/octo-repo',
  repository_id: '74',
  repository_owner_id: '65',
  ref: 'refs/heads/main',
  ref_type: 'branch',
  event_name: 'push',
  workflow: 'deploy',
  runner_environment: 'github-hosted',
};

export interface Issued {
  readonly key?: CryptoKey | Uint8Array;
  readonly alg?: string;
  readonly kid?: string;
  readonly typ?: string;
  readonly audience?: string | string[];
  /** In seconds. */
  readonly lasts?: number | 'for ever';
}

/** An issuer of OIDC tokens, whose clock is that of the test. */
export async function workloadIssuer(
  issuer: string,
  { now, audience = 'http://127.0.0.1:18090' }: { readonly now: () => number; readonly audience?: string },
) {
  let pair = await generateKeyPair('RS256', { extractable: true });
  let kid = 'key-1';
  let ids = 0;
  return {
    async keys(): Promise<JWK[]> {
      return [{ ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' }];
    },

    async rotate(): Promise<void> {
      pair = await generateKeyPair('RS256', { extractable: true });
      kid = `${kid}+`;
    },

    token(claims: JWTPayload = {}, { lasts = 300, ...given }: Issued = {}): Promise<string> {
      const seconds = Math.floor(now() / 1_000);
      ids += 1;
      const token = new SignJWT({ iss: issuer, jti: `id-${ids}`, aud: given.audience ?? audience, ...claims })
        .setProtectedHeader({
          alg: given.alg ?? 'RS256',
          kid: given.kid ?? kid,
          ...(given.typ !== undefined && { typ: given.typ }),
        })
        .setIssuedAt(claims.iat ?? seconds);
      if (lasts !== 'for ever') token.setExpirationTime(seconds + lasts);
      return token.sign(given.key ?? pair.privateKey);
    },
  };
}
