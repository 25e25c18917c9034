import type { Request, Response } from 'express';
import { MeshError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/ports.ts';
import { equalSecrets, type Secret } from '../../core/base/secret.ts';
import {
  type AssertionExchange,
  type AuthorizationServer,
  claimsOfGrants,
  type IdentityAssertion,
  narrowedClaims,
  OWN_ACCESS_S,
  offeredScopes,
} from '../../core/model/authorization-server.ts';
import type { Services } from '../../core/workflow/services.ts';
import { readBody } from '../read-body.ts';
import { OAUTH_PATHS } from './provider.ts';

/** A client that may bring identity assertions, as the issuer names it in them. */
export interface AssertionClient {
  readonly id: string;
  readonly secret: Secret;
}

interface AssertionGrant extends Pick<Services, 'usedOnce'> {
  readonly assertions: AssertionExchange;
  readonly server: AuthorizationServer;
  readonly clients: readonly AssertionClient[];
  readonly log: Log;
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** Twice the length of an assertion whose claims an access token can have. */
const MAX_BODY_BYTES = 16_384;

/** A refusal of the token endpoint (RFC 6749, 5.2; RFC 8707, 2). */
class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly code:
    | 'invalid_request'
    | 'invalid_client'
    | 'invalid_grant'
    | 'invalid_scope'
    | 'invalid_target'
    | 'unsupported_grant_type';
  /** The client that a request named without its secret. */
  readonly named: string | undefined;

  constructor(code: TokenError['code'], message: string, named?: string) {
    super(message);
    this.code = code;
    this.named = named;
  }
}

/** Returns the metadata of an authorization server that takes identity assertions alone (RFC 8414). */
export function assertionMetadata(issuer: string, server: AuthorizationServer): object {
  const scopes = offeredScopes(server);
  return {
    issuer,
    // Answers 404: no grant here needs it, but the official client takes no metadata without it.
    authorization_endpoint: `${issuer}${OAUTH_PATHS.authorization}`,
    token_endpoint: `${issuer}${OAUTH_PATHS.token}`,
    response_types_supported: [],
    grant_types_supported: [JWT_BEARER],
    authorization_grant_profiles_supported: [ID_JAG_PROFILE],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
  };
}

/** Answers a client that brings an identity assertion for an access token (RFC 7523, 2.1). */
export async function answerAssertion(request: Request, response: Response, grant: AssertionGrant): Promise<void> {
  let client: AssertionClient | undefined;
  try {
    const form = await formOf(request);
    client = authenticated(request, form, grant.clients);
    response.json(await exchanged(form, client, grant));
  } catch (error) {
    if (!(error instanceof TokenError || error instanceof MeshError)) throw error;
    const named = error instanceof TokenError ? error.named : undefined;
    const why = { client: client?.id ?? named, code: error.code, reason: error.message };
    grant.log.warn(why, 'a client got no access token for an identity assertion');
    if (!(error instanceof TokenError)) throw error;
    const isUnknown = error.code === 'invalid_client';
    if (isUnknown) response.setHeader('WWW-Authenticate', 'Basic realm="mesh"');
    response.status(isUnknown ? 401 : 400).json({ error: error.code, error_description: error.message });
  }
}

type Form = ReadonlyMap<string, string>;

/** @throws TokenError */
async function formOf(request: Request): Promise<Form> {
  if (request.url.includes('?')) throw new TokenError('invalid_request', 'Send all parameters in the body.');
  if (!request.is(FORM_TYPE)) throw new TokenError('invalid_request', `Send the parameters as ${FORM_TYPE}.`);
  const sent = [...new URLSearchParams(await readBody(request, MAX_BODY_BYTES))];
  const form = new Map(sent);
  if (form.size < sent.length) throw new TokenError('invalid_request', 'Send each parameter once.');
  // One without a value counts as left out (RFC 6749, 3.2).
  return new Map([...form].filter(([, value]) => value !== ''));
}

/** @throws TokenError */
function authenticated({ headers }: Request, form: Form, clients: readonly AssertionClient[]): AssertionClient {
  const [id, secret] = [form.get('client_id'), form.get('client_secret')];
  const { authorization } = headers;
  if (authorization !== undefined && secret !== undefined) {
    throw new TokenError('invalid_request', 'Authenticate in one way: by the header, or in the body.');
  }
  const posted = id !== undefined && secret !== undefined ? [`${id}:${secret}`] : [];
  const shown = authorization === undefined ? posted : basicCredentials(authorization);
  const client = clients.find((one) => shown.some((text) => equalSecrets(text, `${one.id}:${one.secret.reveal()}`)));
  if (!client || (id !== undefined && id !== client.id)) {
    const named = clients.find((one) => one.id === id || shown.some((text) => text.startsWith(`${one.id}:`)));
    throw new TokenError('invalid_client', 'The client is not known here, or its secret is wrong.', named?.id);
  }
  return client;
}

/** As they were sent, and decoded as RFC 6749 (2.3.1) has it: not all clients encode them. */
function basicCredentials(authorization: string): readonly string[] {
  const [scheme = '', encoded = ''] = authorization.split(' ');
  if (scheme.toLowerCase() !== 'basic') return [];
  const sent = Buffer.from(encoded, 'base64').toString();
  return [sent, new URLSearchParams(`sent=${sent.replaceAll('&', '%26')}`).get('sent') ?? ''];
}

/** @throws TokenError, MeshError `rate_limited` */
async function exchanged(form: Form, client: AssertionClient, grant: AssertionGrant): Promise<object> {
  const { assertions, server, usedOnce } = grant;
  const { id, resources, claims: asserted, expiresAt, ...facts } = await assertionIn(form, assertions);
  if (facts.clientId !== client.id) {
    throw new TokenError('invalid_grant', 'This assertion is for another client: its client_id says which.');
  }
  const resource = form.get('resource') ?? resources[0] ?? '';
  if (!resources.includes(resource)) {
    throw new TokenError('invalid_target', `This assertion is for ${resources.join(' or ')}.`);
  }
  const { claims, scope } = scopedClaims(asserted, form.get('scope'));
  const isFirst = await usedOnce.use({
    ...{ purpose: 'identity-assertion', what: JSON.stringify([server.issuer, id]), owner: facts.subject, expiresAt },
    // To its last millisecond: assertions tell whole seconds.
    issuedAt: facts.issuedAt + 999,
  });
  if (!isFirst) {
    throw new TokenError('invalid_grant', 'This assertion was used before, or may have been: bring another one.');
  }
  return {
    access_token: await assertions.issue({ ...facts, resource, claims: claimsOfGrants(server, claims) }),
    ...{ token_type: 'Bearer', expires_in: OWN_ACCESS_S },
    ...(scope !== '' && { scope }),
  };
}

/** @throws TokenError, MeshError `unavailable` where the issuer does not answer */
async function assertionIn(form: Form, assertions: AssertionExchange): Promise<IdentityAssertion> {
  const [grantType, assertion] = [form.get('grant_type'), form.get('assertion')];
  if (grantType === undefined) throw new TokenError('invalid_request', 'grant_type is missing.');
  if (grantType !== JWT_BEARER) throw new TokenError('unsupported_grant_type', `The one grant_type is ${JWT_BEARER}.`);
  if (assertion === undefined) throw new TokenError('invalid_request', 'assertion is missing.');
  try {
    return await assertions.verify(assertion);
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'unauthenticated') throw error;
    throw new TokenError('invalid_grant', error.message);
  }
}

/** @throws TokenError */
function scopedClaims(asserted: IdentityAssertion['claims'], asked: string | undefined) {
  const claims = asked === undefined ? asserted : narrowedClaims(asserted, new Set(asked.split(' ')));
  const { scope: scopes } = claims;
  const scope = Array.isArray(scopes) ? scopes.join(' ') : '';
  if (asked !== undefined && scope === '') {
    throw new TokenError('invalid_scope', 'This assertion has none of the scopes that were asked for.');
  }
  return { claims, scope };
}
