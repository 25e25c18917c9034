import { createHash, createPrivateKey, type JsonWebKey } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errors, interactionPolicy, Provider } from 'oidc-provider';
import { isLoopback } from '../../core/base/loopback.ts';
import { plainAddress } from '../../core/base/origin.ts';
import type { Log } from '../../core/base/ports.ts';
import { newArtifact } from '../../core/identity/oauth-grants.ts';
import { DEFAULT_OAUTH_SCOPES, isOwnResource, MCP_PATH, OAUTH_SCOPES, oauthSecret } from '../../core/model/oauth.ts';
import { newToken } from '../../core/model/token.ts';
import type { Services } from '../../core/workflow/services.ts';
import { buildAdapters, type OAuthServices } from './adapter.ts';
import { type ClientDocuments, DocumentError, isDocumentUrl } from './client-documents.ts';
import { clientOf, DEVICE_GRANT, type FindClient } from './client-ids.ts';
import { newDeviceCode, POLL_S } from './device-codes.ts';

export interface ClientSources {
  /** Absent where clients may not be described by documents of their own. */
  readonly documents: ClientDocuments | undefined;
  /** True where devices without a browser may ask. */
  readonly takesDevices: boolean;
  /** Asked for each document that is not known. */
  mayFetch(request: IncomingMessage): boolean;
  /** Where a request came from. */
  originOf(request: IncomingMessage): string;
}

export type ProviderServices = OAuthServices & Pick<Services, 'keys' | 'settings'>;

export const OAUTH_PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  jwks: '/oauth/jwks',
  device_authorization: '/oauth/device_authorization',
  /** Leads a person to the page that asks for the code of a device. */
  code_verification: '/oauth/device',
} as const;

/** Each call looks the agent up, so that its life says nothing of how soon a revocation counts: at once. */
const ACCESS_S = 3_600;
const CODE_S = 60;
/** What a client signs to show that it is that client, which is remembered as long. */
const MAX_ASSERTION_S = 600;
const REQUEST_S = 600;
/** A refresh token ends with its agent, which lives for 90 days at most. */
const REFRESH_S = 90 * 86_400;
/** DER prefix of an Ed25519 private key (RFC 8410); the 32 bytes of its seed follow. */
const ED25519_PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Builds the authorization server of one issuer: code with PKCE alone, clients without secrets, and no login of its own. A
 * person decides on a page of the dashboard, which goes on with a key that only their browser has.
 */
export function buildProvider(issuer: string, services: ProviderServices, sources: ClientSources, log: Log): Provider {
  const { keys, settings, oauthRequests, clock } = services;
  const provider = new Provider(issuer, {
    adapter: buildAdapters(services, clientFinder(keys, sources), () =>
      plainAddress(sources.originOf(requestUnderWay())),
    ),
    jwks: { keys: [signingKey(keys)] },
    routes: OAUTH_PATHS,
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token', ...(sources.takesDevices ? [DEVICE_GRANT] : [])],
      id_token_signed_response_alg: 'EdDSA',
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientAuthMethods: ['none', 'private_key_jwt'],
    async assertJwtClientAuthClaimsAndHeader(_context, { exp }) {
      const isSoon = typeof exp === 'number' && exp * 1_000 <= clock.now() + MAX_ASSERTION_S * 1_000;
      if (!isSoon) throw new errors.InvalidClientAuth(`exp is ${MAX_ASSERTION_S} seconds from now at most`);
    },
    responseTypes: ['code'],
    scopes: [],
    claims: {},
    enabledJWA: {
      idTokenSigningAlgValues: ['EdDSA'],
      clientAuthSigningAlgValues: ['ES256', 'EdDSA', 'PS256', 'RS256'],
    },
    allowOmittingSingleRegisteredRedirectUri: false,
    clientBasedCORS: () => true,
    cookies: {
      names: COOKIES,
      keys: [oauthSecret(keys, 'cookie').reveal()],
      short: { httpOnly: true, sameSite: 'lax' },
      long: { httpOnly: true, sameSite: 'lax', path: OAUTH_PATHS.authorization },
    },
    expiresWithSession: () => false,
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      claimsParameter: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      deviceFlow: { enabled: sources.takesDevices },
      revocation: { enabled: true, allowedPolicy: isOfClient },
      introspection: { enabled: true, allowedPolicy: isOfClient },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => `${issuer}${MCP_PATH}`,
        useGrantedResource: () => true,
        getResourceServerInfo(_context, resource) {
          if (!isOwnResource(resource, settings)) throw new errors.InvalidTarget('no resource of this control plane');
          return { scope: OAUTH_SCOPES.join(' '), accessTokenFormat: 'opaque', accessTokenTTL: ACCESS_S };
        },
      },
    },
    ttl: {
      AccessToken: ACCESS_S,
      AuthorizationCode: CODE_S,
      DeviceCode: REQUEST_S,
      Grant: REFRESH_S,
      Interaction: REQUEST_S,
      RefreshToken: REFRESH_S,
      Session: REQUEST_S,
    },
    pkce: { required: () => true },
    interactions: { policy: decidedByPerson(), url: (_context, { uid }) => `${DECISION_PAGE}${uid}` },
    renderError(context, out) {
      context.type = 'text/plain; charset=utf-8';
      context.body = cannotBeLetIn(out.error, out.error_description);
    },
  });
  nameTokens(provider);
  provider.proxy = true;
  provider.on('server_error', (context, error) =>
    log.error({ err: error, path: context.path }, 'OAuth request failed'),
  );
  // Else it writes to the standard error that a client went away.
  provider.silent = true;
  provider.use(async (context, next) => {
    const id = requestIdIn(context.path);
    if (id !== undefined) {
      // The library goes on with the request that the cookie names, whatever the address says.
      const isOfBrowser = context.cookies.get(COOKIES.resume) === id;
      const decision = isOfBrowser ? (await oauthRequests.find(id))?.decision : undefined;
      if (!decision || context.query['key'] !== decision.key) {
        context.status = 400;
        context.body =
          'This request goes on only in the browser that decided about it. Connect again from the client.\n';
        return;
      }
    }
    await next();
    refusePages(context);
    if (id === undefined) leadNowhereUnasked(context);
    keepResumeCookie(context.res);
    if (context.path === OAUTH_PATHS.device_authorization && context.status === 200) {
      // No address with the code in it: who types it has seen the device.
      const { verification_uri_complete: _, ...answer } = context.body as Record<string, unknown>;
      context.body = { ...answer, interval: POLL_S };
    }
    if (context.path.startsWith('/.well-known/') && context.status === 200) {
      Object.assign(context.body as object, {
        registration_endpoint: `${issuer}${OAUTH_PATHS.registration}`,
        scopes_supported: OAUTH_SCOPES,
        response_modes_supported: ['query'],
        ...(sources.documents && { client_id_metadata_document_supported: true }),
      });
    }
  });
  return provider;
}

function requestUnderWay(): IncomingMessage {
  const { req } = Provider.ctx ?? {};
  if (!req) throw new Error('The authorization server looks something up outside of a request.');
  return req;
}

/** A client has no secret, so it learns of its own tokens alone, and ends no others. */
function isOfClient(
  _context: unknown,
  client: { readonly clientId: string },
  token: { readonly clientId?: string | undefined },
) {
  return token.clientId === client.clientId;
}

/** Clients in ids that this installation signed, and those whose id is the address of a document. */
function clientFinder(keys: Services['keys'], { documents, mayFetch }: ClientSources): FindClient {
  const key = oauthSecret(keys, 'client');
  return async (id) => {
    if (!documents || !isDocumentUrl(id)) return clientOf(id, key);
    try {
      return await documents.find(id, () => mayFetch(requestUnderWay()));
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      if (!error.isTemporary) throw new errors.InvalidClientMetadata(error.message);
      throw new errors.CustomOIDCProviderError('temporarily_unavailable', error.message);
    }
  };
}

const COOKIES = { session: 'mesh_oauth', interaction: 'mesh_oauth_request', resume: 'mesh_oauth_resume' };
const RESUME = /^\/oauth\/authorize\/([A-Za-z0-9_-]+)$/;
export const DECISION_PAGE = '/#/~/allow/';

/** Returns the id of the request that goes on by a path after a person decided about it; undefined for any other path. */
export function requestIdIn(path: string): string | undefined {
  return RESUME.exec(path)?.[1];
}

/**
 * Anybody may register an address, so nobody is sent to one of another machine before a person decided: not by an error either
 * (RFC 9700, 4.11.2).
 */
function leadNowhereUnasked({ response }: { readonly response: AnswerOfLibrary }): void {
  const location = response.get('Location') ?? '';
  if (location === '' || location.startsWith(DECISION_PAGE)) return;
  const url = new URL(location);
  if (url.protocol === 'http:' && isLoopback(url.hostname)) return;
  const told = new URLSearchParams(url.search === '' ? url.hash.slice(1) : url.search);
  response.remove('Location');
  response.status = 400;
  response.type = 'text/plain; charset=utf-8';
  response.body = cannotBeLetIn(told.get('error'), told.get('error_description'));
}

/** A page of the library would send itself to the client, whoever that is (`response_mode=form_post`). */
function refusePages({ response }: { readonly response: AnswerOfLibrary }): void {
  // What leads on says so in HTML too.
  if (response.type !== 'text/html' || (response.get('Location') ?? '') !== '') return;
  response.status = 400;
  response.type = 'text/plain; charset=utf-8';
  response.body = cannotBeLetIn('invalid_request', 'answers come in the query of the redirect alone');
}

interface AnswerOfLibrary {
  status: number;
  type: string;
  body: unknown;
  get(header: string): string | undefined;
  remove(header: string): void;
}

function cannotBeLetIn(error: string | null | undefined, description: string | null | undefined): string {
  return `This client cannot be let in: ${description ?? error} (${error}).\nConnect it again from the client.\n`;
}

/** The browser that asked has one cookie to go on with; the server of this library would set more, which nothing reads. */
function keepResumeCookie(response: ServerResponse): void {
  const lines = [response.getHeader('Set-Cookie') ?? []].flat().map(String);
  if (lines.length === 0) return;
  const kept = lines.filter((line) => line.startsWith(COOKIES.resume));
  if (kept.length > 0) response.setHeader('Set-Cookie', kept);
  else response.removeHeader('Set-Cookie');
}

/** Every request of a client needs a decision of its own. */
function decidedByPerson() {
  const { base, Check, Prompt } = interactionPolicy;
  const policy = base();
  policy.clear();
  policy.add(
    new Prompt(
      { name: 'consent', requestable: true },
      new Check('undecided', 'a person has to decide', 'interaction_required', ({ oidc }) =>
        oidc.result?.consent ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT,
      ),
    ),
  );
  policy.add(new Prompt({ name: 'login', requestable: true }));
  return policy;
}

/** Codes and tokens have the form of the others of Mesh, so that logs and reports leave them out, and find their grant. */
function nameTokens({ AccessToken, AuthorizationCode, DeviceCode, RefreshToken }: Provider): void {
  const named = (model: object, next: (token: NamedToken) => string) =>
    Object.defineProperty(model, 'generateTokenId', {
      value(this: NamedToken) {
        return next(this);
      },
    });
  named(AccessToken.prototype, (token) => {
    token.format = 'opaque';
    return newToken('oat');
  });
  named(AuthorizationCode.prototype, ({ grantId = '' }) => newArtifact('code', grantId));
  named(DeviceCode.prototype, ({ userCode = '' }) => newDeviceCode(userCode));
  named(RefreshToken.prototype, ({ grantId = '' }) => newArtifact('refresh', grantId));
}

interface NamedToken {
  readonly grantId?: string;
  readonly userCode?: string;
  format?: 'opaque';
}

/** The server signs nothing for clients; its metadata has to name a key. It changes with the keys of the installation. */
function signingKey(keys: Services['keys']): JsonWebKey & { readonly kty: string } {
  const seed = createHash('sha256').update(oauthSecret(keys, 'key').reveal()).digest();
  const key = createPrivateKey({ key: Buffer.concat([ED25519_PKCS8, seed]), format: 'der', type: 'pkcs8' });
  return { ...key.export({ format: 'jwk' }), kty: 'OKP', use: 'sig', alg: 'EdDSA' };
}

/** Scopes of a request that this server knows, or those of a client that asks for none of them. */
export function knownScopes(asked: string | null): string {
  const known = (asked ?? '').split(' ').filter((one) => (OAUTH_SCOPES as readonly string[]).includes(one));
  return (known.length > 0 ? known : DEFAULT_OAUTH_SCOPES).join(' ');
}
