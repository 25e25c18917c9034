import type { Request, RequestHandler, Response } from 'express';
import type { Provider } from 'oidc-provider';
import { MeshError } from '../../core/base/errors.ts';
import { isLoopback } from '../../core/base/loopback.ts';
import { originOf } from '../../core/base/origin.ts';
import type { FetchDocument, Log } from '../../core/base/ports.ts';
import { type AuthorizationServer, offeredScopes } from '../../core/model/authorization-server.ts';
import {
  addressesOf,
  MCP_PATH,
  OAUTH_SCOPES,
  type OAuthAddresses,
  oauthSecret,
  RESOURCE_METADATA_PATH,
} from '../../core/model/oauth.ts';
import { sourceSite } from '../../core/model/source-network.ts';
import type { Services } from '../../core/workflow/services.ts';
import { createRateWindows } from '../rate-windows.ts';
import { readBody } from '../read-body.ts';
import { type AssertionClient, answerAssertion, assertionMetadata } from './assertion-grant.ts';
import { buildClientDocuments } from './client-documents.ts';
import { clientIdOf, DEVICE_GRANT, type Registration, RegistrationError, readRegistration } from './client-ids.ts';
import {
  buildProvider,
  type ClientSources,
  DECISION_PAGE,
  knownScopes,
  OAUTH_PATHS,
  type ProviderServices,
  requestIdIn,
} from './provider.ts';

export interface OAuthOptions {
  readonly services: ProviderServices & Pick<Services, 'accessTokens'>;
  readonly log: Log;
  readonly registration: Registration;
  readonly fetchDocument: FetchDocument;
  /** Clients that may bring identity assertions; absent where nobody may. */
  readonly assertionClients?: readonly AssertionClient[] | undefined;
}

/** Issuers of the loopback at once, one for each port that a client names; with public addresses there is one. */
const MAX_ISSUERS = 8;
const MAX_REGISTRATION_BYTES = 16_384;
/** Registrations and requests for a decision of one address in a minute. What runs on this machine is not held back. */
const PER_MINUTE = 60;
/** Documents of clients that one address has fetched in a minute. */
const FETCHES_PER_MINUTE = 10;
const WINDOW_MS = 60_000;
const MAX_SOURCES = 10_000;
const AS_METADATA = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];

/** Answers the paths of OAuth: metadata, registration, and those of the authorization server. */
export function buildOAuth({
  services,
  log,
  registration,
  fetchDocument,
  assertionClients,
}: OAuthOptions): RequestHandler {
  const { settings, keys } = services;
  const clientKey = oauthSecret(keys, 'client');
  const issuers = new Map<string, Provider>();
  const deviceGrant = registration === 'anyone' ? [DEVICE_GRANT] : [];
  const windows = createRateWindows(WINDOW_MS, MAX_SOURCES);
  const fetches = createRateWindows(WINDOW_MS, MAX_SOURCES);
  const origins = new WeakMap<object, string>();
  const originIn = (request: object) => origins.get(request) ?? '';
  const sources: ClientSources = {
    originOf: originIn,
    documents: registration === 'nobody' ? undefined : buildClientDocuments(fetchDocument, registration),
    takesDevices: registration === 'anyone',
    mayFetch(request) {
      const window = fetches.at(sourceSite(originIn(request)), FETCHES_PER_MINUTE, performance.now());
      window.count++;
      return window.count <= FETCHES_PER_MINUTE;
    },
  };

  function providerOf(issuer: string): Provider {
    const known = issuers.get(issuer);
    if (known) return known;
    if (issuers.size >= MAX_ISSUERS) for (const oldest of issuers.keys()) if (issuers.delete(oldest)) break;
    const made = buildProvider(issuer, services, sources, log);
    issuers.set(issuer, made);
    return made;
  }

  /** @throws MeshError `rate_limited` */
  function limit(request: Request): void {
    const origin = originOf(request);
    if (isLoopback(origin)) return;
    const now = performance.now();
    const window = windows.at(sourceSite(origin), PER_MINUTE, now);
    window.count++;
    if (window.count <= PER_MINUTE) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((window.resetAt - now) / 1_000));
    throw new MeshError('rate_limited', `Too many requests: wait ${retryAfterSeconds} s and try again.`, {
      retryAfterSeconds,
    });
  }

  async function register(request: Request, response: Response): Promise<void> {
    try {
      const client = readRegistration(await jsonOf(request), registration);
      const { name, redirectUris } = client;
      response.status(201).json({
        client_id: clientIdOf(client, clientKey),
        client_name: name,
        redirect_uris: redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: [...(redirectUris.length > 0 ? ['authorization_code'] : []), 'refresh_token', ...deviceGrant],
        response_types: redirectUris.length > 0 ? ['code'] : [],
      });
    } catch (error) {
      if (!(error instanceof RegistrationError)) throw error;
      response.status(error.code === 'access_denied' ? 403 : 400);
      response.json({ error: error.code, error_description: error.message });
    }
  }

  /** What is left of the paths where another authorization server lets clients in. @throws MeshError */
  async function serveAssertions(
    request: Request,
    response: Response,
    server: AuthorizationServer,
    { issuer }: OAuthAddresses,
  ): Promise<void> {
    const { path, method } = request;
    const { accessTokens, usedOnce } = services;
    const assertions = accessTokens?.assertions;
    if (!assertions || !assertionClients || (path !== AS_METADATA[0] && path !== OAUTH_PATHS.token))
      throw issuedElsewhere(server);
    response.setHeader('Cache-Control', 'no-store');
    if (path === OAUTH_PATHS.token) {
      if (method !== 'POST') throw onlyAnswers(path, 'POST');
      limit(request);
      return answerAssertion(request, response, { assertions, usedOnce, server, clients: assertionClients, log });
    }
    if (answersPreflight(request, response)) return;
    if (method !== 'GET') throw onlyAnswers(path, 'GET');
    response.json(assertionMetadata(issuer, server));
  }

  return async (request, response, next) => {
    const { path } = request;
    const addresses = addressesOf(request, settings);
    if (!addresses) throw noAddress();
    if (path.startsWith(RESOURCE_METADATA_PATH)) {
      const scopes = settings.authorizationServer ? offeredScopes(settings.authorizationServer) : OAUTH_SCOPES;
      return sendResourceMetadata(request, response, addresses, scopes);
    }
    if (settings.authorizationServer && isServed(path)) {
      return serveAssertions(request, response, settings.authorizationServer, addresses);
    }
    response.setHeader('Cache-Control', 'no-store');
    if (path === OAUTH_PATHS.registration) {
      if (answersPreflight(request, response)) return;
      if (request.method !== 'POST') throw onlyAnswers(path, 'POST');
      limit(request);
      return register(request, response);
    }
    if (path === OAUTH_PATHS.authorization) {
      limit(request);
      const [, query = ''] = request.url.split(/\?(.*)/s);
      const asked = new URLSearchParams(query);
      asked.set('scope', knownScopes(asked.get('scope')));
      request.url = `${path}?${asked}`;
      request.originalUrl = request.url;
    }
    if (path === OAUTH_PATHS.code_verification && sources.takesDevices) {
      if (request.method !== 'GET') throw onlyAnswers(path, 'GET');
      return response.redirect(302, DECISION_PAGE);
    }
    if (path === OAUTH_PATHS.device_authorization && request.method === 'POST') limit(request);
    if (!isServed(path)) return next();
    // Before its headers change.
    origins.set(request, originOf(request));
    const { host, protocol } = new URL(addresses.issuer);
    // Addresses in answers are those of the issuer, whatever a proxy or client says.
    request.headers['x-forwarded-host'] = host;
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    await providerOf(addresses.issuer).callback()(request, response);
  };
}

/**
 * What is none of these, letter by letter, is answered as every path that is not there: the router of the library takes other forms
 * of a path too, which nothing here would judge.
 */
function isServed(path: string): boolean {
  const paths: readonly string[] = [...AS_METADATA, ...Object.values(OAUTH_PATHS)];
  return paths.includes(path) || requestIdIn(path) !== undefined;
}

/** RFC 9728, for the endpoint and for the address that has it. */
function sendResourceMetadata(
  request: Request,
  response: Response,
  { issuer, resource }: OAuthAddresses,
  scopes: readonly string[],
): void {
  if (![RESOURCE_METADATA_PATH, `${RESOURCE_METADATA_PATH}${MCP_PATH}`].includes(request.path)) {
    throw new MeshError('not_found', `There is no resource at ${request.path.slice(RESOURCE_METADATA_PATH.length)}.`);
  }
  if (answersPreflight(request, response)) return;
  if (request.method !== 'GET') throw onlyAnswers(request.path, 'GET');
  response.json({
    resource,
    authorization_servers: [issuer],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    resource_name: 'Mesh',
  });
}

/** Pages that may use this control plane read the answer; they send no cookie, and none would count. */
function answersPreflight({ method, headers }: Request, response: Response): boolean {
  const { origin } = headers;
  response.vary('Origin');
  if (origin !== undefined) response.setHeader('Access-Control-Allow-Origin', origin);
  if (method !== 'OPTIONS') return false;
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
  response.setHeader('Access-Control-Allow-Headers', 'Accept, Authorization, Content-Type, Mcp-Protocol-Version');
  response.status(204).end();
  return true;
}

async function jsonOf(request: Request): Promise<unknown> {
  const body = await readBody(request, MAX_REGISTRATION_BYTES);
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new RegistrationError('invalid_client_metadata', 'Send the metadata as JSON.');
  }
}

function onlyAnswers(path: string, method: string): MeshError {
  return new MeshError('method_not_allowed', `${path} answers ${method} only.`, { allow: [method] });
}

function issuedElsewhere({ issuer }: AuthorizationServer): MeshError {
  return new MeshError('not_found', `Clients are let in by ${issuer} here, and not by this control plane: ask there.`);
}

function noAddress(): MeshError {
  return new MeshError(
    'not_found',
    'Clients cannot sign in under this address: an administrator adds it to app.publicUrls in config.yaml. A token works all the same.',
  );
}
