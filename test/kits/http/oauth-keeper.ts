import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { REDIRECT } from './oauth-client.ts';

type Kept = Parameters<NonNullable<OAuthClientProvider['saveClientInformation']>>[0];
type Discovered = Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0];
export type Tokens = Parameters<OAuthClientProvider['saveTokens']>[0];

/** Keeps what the official clients ask to be kept, and opens no browser. */
export function keeper() {
  const kept: {
    client?: Kept;
    tokens?: Tokens | undefined;
    address?: URL;
    verifier?: string;
    discovered?: Discovered;
  } = {};
  const provider = {
    redirectUrl: REDIRECT,
    clientMetadata: { client_name: 'Official client', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' },
    clientInformation: () => kept.client,
    saveClientInformation: (client: Kept) => void Object.assign(kept, { client }),
    tokens: () => kept.tokens,
    saveTokens: (tokens: Tokens) => void Object.assign(kept, { tokens }),
    redirectToAuthorization: (address: URL) => void Object.assign(kept, { address }),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    codeVerifier: () => kept.verifier ?? '',
    invalidateCredentials: () => void Object.assign(kept, { tokens: undefined }),
    saveDiscoveryState: (discovered: Discovered) => void Object.assign(kept, { discovered }),
    discoveryState: () => kept.discovered,
  };
  return { kept, provider };
}
