import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

export { testCertificate } from '../../../net/nats/test-certificate.ts';

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

export const SERVICE_ACCOUNT = 'system:serviceaccount:ci:builder';

/** As the API server of Kubernetes 1.33 answers a review of a token of a pod (authentication.k8s.io/v1). */
export function tokenReviewOf({
  audiences = ['https://mesh.example.com'],
  username = SERVICE_ACCOUNT,
}: {
  readonly audiences?: readonly string[];
  readonly username?: string;
} = {}) {
  return {
    kind: 'TokenReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { managedFields: [{ manager: 'node-fetch', operation: 'Update' }] },
    spec: { token: 'eyJ…', audiences },
    status: {
      authenticated: true,
      user: {
        username,
        uid: 'c2a7a9a4-64ad-4f0f-8d5c-1d1d63f4b9ad',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
        extra: {
          'authentication.kubernetes.io/credential-id': ['JTI=0a4d4b0e-2f8e-4a3f-9f2e-0d2c6b9f6a11'],
          'authentication.kubernetes.io/node-name': ['node-1'],
          'authentication.kubernetes.io/pod-name': ['build-7c9d'],
          'authentication.kubernetes.io/pod-uid': ['6f1b7e0e-6f2f-4a39-9f0e-6f3a8e7d1c55'],
        },
      },
      audiences,
    },
  };
}

/** As it answers one for a token that it does not know, or that has ended. */
export const UNKNOWN_TOKEN = {
  kind: 'TokenReview',
  apiVersion: 'authentication.k8s.io/v1',
  metadata: {},
  spec: { token: 'eyJ…' },
  status: { user: {}, error: '[invalid bearer token, service account token has expired]' },
};

/** As it answers who may not review tokens. */
export const FORBIDDEN_REVIEW = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message:
    'tokenreviews.authentication.k8s.io is forbidden: User "system:serviceaccount:mesh:reviewer" cannot create resource "tokenreviews" in API group "authentication.k8s.io" at the cluster scope',
  reason: 'Forbidden',
  details: { group: 'authentication.k8s.io', kind: 'tokenreviews' },
  code: 403,
};
