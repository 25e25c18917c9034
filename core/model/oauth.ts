import { createHash, createHmac } from 'node:crypto';
import { isLoopback } from '../base/loopback.ts';
import { NEVER_DELEGATED, PERSON_ONLY_SCOPES, SCOPES, type Scope } from '../base/scope.ts';
import { Secret } from '../base/secret.ts';
import type { AuthorizationServer } from './authorization-server.ts';

/** Scopes that an OAuth client can ask for: none by which anything is approved, nor any that an agent cannot pass on. */
export const OAUTH_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) => !PERSON_ONLY_SCOPES.has(scope) && !NEVER_DELEGATED.has(scope),
);

/** Scopes of a client that asks for none: it reads and plans. */
export const DEFAULT_OAUTH_SCOPES: readonly Scope[] = ['network:read', 'snapshots:read', 'intents:plan'];

/**
 * Scopes that a client without a token is told to ask for: those, and to submit plans, which the person gives on the page or not. Some
 * clients do not ask again for a scope that is missing later.
 */
export const OFFERED_OAUTH_SCOPES: readonly Scope[] = [...DEFAULT_OAUTH_SCOPES, 'intents:apply'];

/** An OAuth client as a person is asked about it. All of it is the client's word, but for where its codes are sent. */
export interface OAuthClient {
  readonly id: string;
  readonly name: string;
  /** Host of the address that its codes are sent to, or the scheme of an application's own. */
  readonly host: string;
  /** Address of its metadata, where it has such: whoever has that site describes the client. */
  readonly document?: string | undefined;
}

/** Grant of a person to an OAuth client, in a Token record whose owner is the agent. */
export interface OAuthGrant {
  /** Identifies the grant; the first part of its codes and refresh tokens. */
  readonly id: string;
  readonly clientId: string;
  /** Uid of the account that granted. */
  readonly account: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** The account's `grantEpoch` when it granted; absent for 0. */
  readonly epoch?: number;
  /** Instants are milliseconds. */
  readonly grantedAt: number;
  readonly code?: OAuthArtifact;
  readonly refresh?: OAuthArtifact;
  readonly access?: OAuthArtifact;
}

/** A code or token of a grant, of which there is one of each kind at a time. */
export interface OAuthArtifact {
  /** SHA-256 of the whole value, in hexadecimal. */
  readonly digest: string;
  readonly expiresAt: number;
  /** State of the authorization server, without the value itself. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export type OAuthArtifactKind = 'code' | 'refresh' | 'access';

/** Returns a secret of the installation for one purpose, the same on all control planes. */
export function oauthSecret(
  { controlPrivateKey }: { readonly controlPrivateKey: Secret },
  purpose: 'access' | 'client' | 'cookie' | 'key',
): Secret {
  return new Secret(
    createHmac('sha256', controlPrivateKey.reveal()).update(`mesh/oauth/${purpose}/v1`).digest('base64url'),
  );
}

/** The `unique` value of the record of a grant. */
export function grantKey(id: string): string {
  return `oauth:${id}`;
}

/** Identifies a client at one address of the control plane: a person has one agent for both. */
export function agentClientKey(clientId: string, resource: string): string {
  return createHash('sha256').update(`${clientId}\n${resource}`).digest('base64url');
}

/** Path of the MCP endpoint, which is the one resource of each address. */
export const MCP_PATH = '/mcp';
/** Path of the metadata of a protected resource (RFC 9728, 3.1); that of a path is below it. */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

export interface OAuthAddresses {
  /** The authorization server: one for all addresses of a control plane that has public ones. */
  readonly issuer: string;
  /** The MCP endpoint under the address that the client used. */
  readonly resource: string;
  readonly resourceMetadata: string;
}

interface PublicAddresses {
  readonly publicUrls?: readonly string[] | undefined;
  readonly authorizationServer?: Pick<AuthorizationServer, 'issuer' | 'takesAssertions'> | undefined;
}

/** Returns the MCP endpoint under each of `app.publicUrls`. */
export function publicResources({ publicUrls = [] }: PublicAddresses): readonly string[] {
  return publicUrls.map((url) => `${new URL(url).origin}${MCP_PATH}`);
}

/** Returns the identifier of the own authorization server; undefined without a public address. */
export function ownIssuer({ publicUrls: [first] = [] }: PublicAddresses): string | undefined {
  return first === undefined ? undefined : new URL(first).origin;
}

/**
 * Returns the addresses of OAuth for who asked under a host: one of `app.publicUrls`, exactly as it is written there, or the
 * loopback. Undefined for any other, where no client could be told an address that holds; for the loopback too where another
 * authorization server issues tokens, for on each machine that is another program.
 *
 * @param host the header of the request
 * @param isSecure whether the request came over TLS
 */
export function oauthAddresses(
  host: string | undefined,
  isSecure: boolean,
  settings: PublicAddresses,
): OAuthAddresses | undefined {
  const { publicUrls = [], authorizationServer } = settings;
  const asked = host?.toLowerCase();
  const origins = publicUrls.map((url) => new URL(url).origin);
  const listed = origins.find((one) => new URL(one).host === asked);
  const origin = listed ?? (authorizationServer ? undefined : loopbackOrigin(asked, isSecure));
  if (origin === undefined) return undefined;
  const elsewhere = authorizationServer?.takesAssertions ? undefined : authorizationServer;
  return {
    issuer: elsewhere?.issuer ?? ownIssuer(settings) ?? origin,
    resource: `${origin}${MCP_PATH}`,
    resourceMetadata: `${origin}${RESOURCE_METADATA_PATH}${MCP_PATH}`,
  };
}

interface ReceivedRequest {
  /** Set where a proxy that is trusted says how the request came. */
  readonly secure?: boolean | undefined;
  readonly headers: { readonly host?: string | undefined };
  readonly socket: object;
}

/** Returns the addresses of OAuth for a request, see {@link oauthAddresses}. */
export function addressesOf(request: ReceivedRequest, settings: PublicAddresses): OAuthAddresses | undefined {
  const { secure, headers, socket } = request;
  return oauthAddresses(
    headers.host,
    secure ?? Boolean((socket as { readonly encrypted?: boolean }).encrypted),
    settings,
  );
}

/** Returns true if a resource is the MCP endpoint under an address of this control plane. */
export function isOwnResource(resource: string, { publicUrls = [] }: PublicAddresses): boolean {
  const url = URL.parse(resource);
  if (!url || resource !== `${url.origin}${MCP_PATH}`) return false;
  return isLoopback(url.hostname) || publicUrls.some((one) => new URL(one).origin === url.origin);
}

function loopbackOrigin(host: string | undefined, isSecure: boolean): string | undefined {
  const url = host === undefined ? null : URL.parse(`${isSecure ? 'https' : 'http'}://${host}`);
  return url && url.host !== '' && isLoopback(url.hostname) ? url.origin : undefined;
}
