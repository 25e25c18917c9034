import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { isLoopback } from '../../core/base/loopback.ts';
import { equalSecrets, type Secret } from '../../core/base/secret.ts';
import { lineOfText } from '../../core/base/text.ts';
import type { OAuthClient } from '../../core/model/oauth.ts';

/** Registration of clients is open to anyone, to programs on the machine of the person who runs them, or to nobody. */
export const REGISTRATIONS = ['anyone', 'local', 'nobody'] as const;
export type Registration = (typeof REGISTRATIONS)[number];

const MAX_URIS = 8;
const MAX_URI_LENGTH = 512;
const MAX_NAME_LENGTH = 64;
const MAX_ID_LENGTH = 4_096;
const PREFIX = 'mesh-client.';
/** Schemes of applications that are no domain name the other way round, as RFC 8252 (7.1) wants them. */
const APPLICATIONS = new Set(
  ['claude', 'cursor', 'goose', 'vscode', 'vscode-insiders', 'vscodium', 'windsurf', 'zed'].map((name) => `${name}:`),
);
/** An application's own scheme, such as `com.example.app:`. */
const OWN_SCHEME = /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:$/;
/** Characters by which an address could be read as another one. */
const AMBIGUOUS = /[\s\\*]/;
/** A letter or digit that is seen. */
const VISIBLE = /(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}]/u;

/** A public key as a JWK (RFC 7517). */
export interface PublicKey {
  readonly kty: string;
  readonly [member: string]: unknown;
}

export interface RegisteredClient {
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Address of the document that describes it, which is its id then. */
  readonly document?: string;
  /** Public keys, one of which signs for it at the token endpoint (RFC 7523). */
  readonly keys?: readonly PublicKey[];
}

/** Returns the client that has an id. @throws OIDCProviderError where its metadata cannot be had */
export type FindClient = (id: string) => Promise<RegisteredClient | undefined>;

/** A refusal of RFC 7591, 3.2.2. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata' | 'access_denied';

  constructor(code: RegistrationError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const registration = z.object({
  client_name: lineOfText(MAX_NAME_LENGTH)
    .refine((name) => VISIBLE.test(name), 'has no letter or digit')
    .default('unnamed client'),
  redirect_uris: z.array(z.string().max(MAX_URI_LENGTH)).max(MAX_URIS).default([]),
  grant_types: z.array(z.string().max(MAX_URI_LENGTH)).max(MAX_URIS).optional(),
});

/** Of clients that show a code and have no browser (RFC 8628). */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Reads the metadata of a client that registers. Ports of the loopback are left out: they change with each start, and any counts.
 *
 * @throws RegistrationError
 */
export function readRegistration(body: unknown, allowed: Registration): RegisteredClient {
  if (allowed === 'nobody') {
    throw new RegistrationError(
      'access_denied',
      'Clients may not register here: ask an administrator for an agent token, or to set app.oauth.registration.',
    );
  }
  const parsed = registration.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join('.') ?? '';
    const code = field.startsWith('redirect_uris') ? 'invalid_redirect_uri' : 'invalid_client_metadata';
    throw new RegistrationError(code, `${field === '' ? 'The metadata' : field}: ${issue?.message ?? 'is not valid'}.`);
  }
  const { client_name: name, redirect_uris: uris, grant_types: grantTypes = [] } = parsed.data;
  if (uris.length === 0 && !grantTypes.includes(DEVICE_GRANT)) {
    throw new RegistrationError('invalid_redirect_uri', 'redirect_uris: name at least one.');
  }
  return { name, redirectUris: [...new Set(uris.map((uri) => readRedirect(uri, allowed)))] };
}

/** @throws RegistrationError */
function readRedirect(uri: string, allowed: Registration): string {
  const url = URL.parse(uri);
  const fault = url ? redirectFault(url, uri, allowed) : 'is no URL';
  if (!url || fault !== undefined) throw new RegistrationError('invalid_redirect_uri', `${uri}: ${fault}.`);
  // Others are compared letter by letter.
  if (!isLocal(url)) return uri;
  url.port = '';
  return url.href;
}

function redirectFault(url: URL, uri: string, allowed: Registration): string | undefined {
  if (uri.includes('#')) return 'a redirect has no fragment';
  if (url.username !== '' || url.password !== '') return 'a redirect has no user';
  if (AMBIGUOUS.test(uri)) return 'a redirect has no blank, backslash or asterisk';
  if (!isTaken(url, uri))
    return `codes are not sent to ${url.protocol} addresses: use https, the loopback, or a scheme such as com.example.app`;
  if (url.protocol === 'http:' && !isLocal(url)) return 'http is for the loopback alone; use https';
  if (url.protocol === 'https:' && isLoopback(url.hostname)) return 'use http for the loopback';
  if (allowed === 'local' && !isLocal(url)) return 'only programs on the own machine may register here';
  return undefined;
}

function isTaken({ protocol }: URL, uri: string): boolean {
  if (protocol === 'https:' || protocol === 'http:') return uri.toLowerCase().startsWith(`${protocol}//`);
  return APPLICATIONS.has(protocol) || OWN_SCHEME.test(protocol);
}

function isLocal({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && isLoopback(hostname);
}

/**
 * Returns the id of a client, which holds all that is known of the client and is signed: registrations take no room, cannot fill
 * any, and need no removal. The same client gets the same id again.
 */
export function clientIdOf({ name, redirectUris }: RegisteredClient, key: Secret): string {
  const body = Buffer.from(JSON.stringify([name, redirectUris])).toString('base64url');
  return `${PREFIX}${body}.${signed(body, key)}`;
}

const content = z.tuple([z.string(), z.array(z.string())]);

/** Returns the client that an id is of; undefined where this installation did not make it. */
export function clientOf(id: string, key: Secret): RegisteredClient | undefined {
  if (id.length > MAX_ID_LENGTH || !id.startsWith(PREFIX)) return undefined;
  const [body = '', mac = '', ...rest] = id.slice(PREFIX.length).split('.');
  if (rest.length > 0 || !equalSecrets(mac, signed(body, key))) return undefined;
  const [name, redirectUris] = content.parse(JSON.parse(Buffer.from(body, 'base64url').toString()));
  return { name, redirectUris };
}

/** Returns a client as a person is asked about it: by the place that its codes go to, which no name can hide. */
export function shownClient(id: string, { name, document }: RegisteredClient, redirectUri: string): OAuthClient {
  const url = new URL(redirectUri);
  const host = url.protocol === 'https:' ? url.host : isLocal(url) ? 'this machine' : url.protocol.slice(0, -1);
  return { id, name, host, ...(document !== undefined && { document }) };
}

function signed(body: string, key: Secret): string {
  return createHmac('sha256', key.reveal()).update(body).digest('base64url');
}
