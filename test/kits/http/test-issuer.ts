import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CryptoKey, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';

type Json = Readonly<Record<string, unknown>>;

interface Code {
  readonly claims: Json;
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectUri: string;
}

/** How a test has an issuer answer; what is not set is as it should be. */
export interface Misbehavior {
  metadata?: Json;
  /** Claims of ID tokens in place of its own. */
  claims?: Json;
  /** Makes the ID token from its claims. */
  idToken?: (claims: Json, keys: IssuerKeys) => Promise<string> | string;
  /** Answers a path in place of the issuer. */
  instead?: Readonly<Record<string, (response: ServerResponse) => void>>;
}

export interface IssuerKeys {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly kid: string;
}

export const CLIENT = { clientId: 'mesh', clientSecret: 'a secret of the client' };

/** A client as assertions of the test issuer name it, whatever it is called there. */
export const ASSISTANT = 'assistant';
const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** An issuer on the loopback that signs everybody in as who a test says, and can misbehave. */
export async function startTestIssuer() {
  let keys = await newKeys();
  let person: Json = {};
  const codes = new Map<string, Code>();
  const refreshable = new Map<string, Json>();
  const misbehavior: Misbehavior = {};
  const asked: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    asked.push(path);
    const instead = misbehavior.instead?.[path];
    if (instead) return instead(response);
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (path === '/.well-known/openid-configuration') return void json(200, { ...metadata(), ...misbehavior.metadata });
    if (path === '/jwks') return void json(200, { keys: [await publicJwk(keys)] });
    if (path === '/token') return void json(...(await tokens(request)));
    const { pathname, searchParams } = new URL(path, url);
    const leadTo = (location: string) => void response.writeHead(303, { location }).end();
    if (pathname === '/authorize')
      return leadTo(`${searchParams.get('redirect_uri')}${signIn(`${url}${path}`, person)}`);
    if (pathname === '/end') return leadTo(searchParams.get('post_logout_redirect_uri') ?? '');
    json(404, {});
  }

  function metadata(): Json {
    return {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/jwks`,
      end_session_endpoint: `${url}/end`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      authorization_response_iss_parameter_supported: true,
    };
  }

  async function tokens(request: IncomingMessage): Promise<[number, Json]> {
    const form = new URLSearchParams(await text(request));
    if (form.get('grant_type') === TOKEN_EXCHANGE) return [200, await exchanged(form)];
    const basic = Buffer.from(`${CLIENT.clientId}:${encodeURIComponent(CLIENT.clientSecret).replaceAll('%20', '+')}`);
    if (request.headers.authorization !== `Basic ${basic.toString('base64')}`)
      return [401, { error: 'invalid_client' }];
    if (form.get('grant_type') === 'refresh_token') {
      const claims = take(refreshable, form.get('refresh_token'));
      return claims ? [200, await answerFor(claims)] : [400, { error: 'invalid_grant' }];
    }
    const code = take(codes, form.get('code'));
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (code?.challenge !== challenge || code.redirectUri !== form.get('redirect_uri')) {
      return [400, { error: 'invalid_grant', error_description: 'The code is unknown.' }];
    }
    return [200, await answerFor({ ...code.claims, nonce: code.nonce })];
  }

  /** Exchanges the ID token of a client for an identity assertion (draft-ietf-oauth-identity-assertion-authz-grant, 4.3). */
  async function exchanged(form: URLSearchParams): Promise<Json> {
    const asked = (name: string) => form.get(name) ?? undefined;
    const { payload } = await jwtVerify(form.get('subject_token') ?? '', keys.publicKey, {
      issuer: url,
      audience: form.get('client_id') ?? '',
    });
    const assertion = await identityAssertion({
      ...{ sub: payload.sub, auth_time: payload['auth_time'], client_id: ASSISTANT },
      ...{ aud: asked('audience'), resource: asked('resource'), scope: asked('scope') },
    });
    return { issued_token_type: form.get('requested_token_type'), access_token: assertion, token_type: 'N_A' };
  }

  function identityAssertion(claims: Json, header: Json = {}, lasts = '5m'): Promise<string> {
    const { iat } = claims;
    return new SignJWT({ iss: url, jti: randomBytes(8).toString('hex'), ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: keys.kid, typ: 'oauth-id-jag+jwt', ...header })
      .setIssuedAt(typeof iat === 'number' ? iat : undefined)
      .setExpirationTime(lasts)
      .sign(keys.privateKey);
  }

  async function answerFor(own: Json): Promise<Json> {
    const claims = { iss: url, aud: CLIENT.clientId, ...own, ...misbehavior.claims };
    const refreshToken = randomBytes(16).toString('base64url');
    refreshable.set(refreshToken, own);
    const made = (misbehavior.idToken ?? signed)(claims, keys);
    return { access_token: 'access', token_type: 'Bearer', refresh_token: refreshToken, id_token: await made };
  }

  /** Signs a person in at the address that a browser was sent to. @returns the query that it sends the browser back with */
  function signIn(address: string, claims: Json): string {
    const { searchParams } = new URL(address);
    const code = randomBytes(16).toString('base64url');
    const value = (name: string) => searchParams.get(name) ?? '';
    codes.set(code, {
      claims: { email_verified: true, ...claims },
      nonce: value('nonce'),
      challenge: value('code_challenge'),
      redirectUri: value('redirect_uri'),
    });
    return `?${new URLSearchParams({ code, state: value('state'), iss: url })}`;
  }

  return {
    url,
    misbehavior,
    /** Paths that it was asked for. */
    asked,

    /** Signs in whoever comes with a browser as this person. */
    signsIn(claims: Json): void {
      person = claims;
    },

    signIn,

    /** Issues an access token, as a JWT of five minutes. */
    accessToken: (claims: Json, header: Json = {}) =>
      new SignJWT({ iss: url, client_id: 'planner', ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: keys.kid, typ: 'at+jwt', ...header })
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(keys.privateKey),

    /** Issues an ID token for a client of its own. */
    idToken: (claims: Json) => signed({ iss: url, ...claims }, keys),

    identityAssertion,

    /** Signs with new keys from now on. */
    async rotateKeys(): Promise<void> {
      keys = await newKeys();
    },

    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export type TestIssuer = Awaited<ReturnType<typeof startTestIssuer>>;

/** An ID token as it should be. */
export function signed(claims: Json, { privateKey, kid }: IssuerKeys): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid })
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(privateKey);
}

async function newKeys(): Promise<IssuerKeys> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  return { privateKey, publicKey, kid: randomBytes(4).toString('hex') };
}

async function publicJwk({ publicKey, kid }: IssuerKeys) {
  return { ...(await exportJWK(publicKey)), kid, use: 'sig', alg: 'RS256' };
}

function take<T>(kept: Map<string, T>, key: string | null): T | undefined {
  const found = kept.get(key ?? '');
  kept.delete(key ?? '');
  return found;
}
