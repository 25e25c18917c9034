import * as oidc from 'openid-client';
import { MeshError } from '../../core/base/errors.ts';
import { isLoopback } from '../../core/base/loopback.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import type { Secret } from '../../core/base/secret.ts';
import type { IssuedIdentity, IssuerClient, IssuerRules } from '../../core/model/issuers.ts';
import { boundedFetch } from './bounded-fetch.ts';

/** An issuer with how this control plane is known there. */
export interface IssuerSettings extends Pick<IssuerRules, 'name' | 'title' | 'issuer'> {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: Secret | undefined;
  readonly scopes: readonly string[];
}

export interface IssuerParts {
  readonly issuers: readonly IssuerSettings[];
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly fetch?: typeof boundedFetch;
}

/** What an issuer says of itself is asked for again after so long. */
const METADATA_MS = 3_600_000;
/** Characters (OpenID Connect Core, 2). */
const MAX_SUBJECT = 255;
const MAX_TOLD = 200;

interface Discovered {
  readonly metadata: Promise<oidc.ServerMetadata>;
  readonly at: number;
}

/** Speaks OpenID Connect with the issuers of the configuration: code with PKCE, and signatures checked against their present keys. */
export function buildIssuerClient({ issuers, clock, log, fetch = boundedFetch }: IssuerParts): IssuerClient {
  const byName = new Map(issuers.map((issuer) => [issuer.name, issuer]));
  const discovered = new Map<string, Discovered>();

  function metadataOf(settings: IssuerSettings): Promise<oidc.ServerMetadata> {
    const { name } = settings;
    const known = discovered.get(name);
    if (known && clock.now() - known.at < METADATA_MS) return known.metadata;
    const metadata = discover(settings);
    discovered.set(name, { metadata, at: clock.now() });
    // Whoever asks next asks the issuer again.
    metadata.catch(() => discovered.delete(name));
    return metadata;
  }

  async function discover(settings: IssuerSettings): Promise<oidc.ServerMetadata> {
    const server = new URL(settings.issuer);
    const found = await oidc.discovery(server, settings.clientId, undefined, oidc.None(), {
      [oidc.customFetch]: fetch as oidc.CustomFetch,
      execute: isPlainLoopback(server) ? [oidc.allowInsecureRequests] : [],
    });
    const { supportsPKCE: _, ...metadata } = found.serverMetadata();
    // The library compares them as URLs, which forgive a slash; ID tokens do not.
    if (metadata.issuer !== settings.issuer)
      throw new TypeError(`it calls itself ${metadata.issuer.slice(0, MAX_TOLD)}`);
    return metadata;
  }

  /** Each use has keys of its own, so that those that an issuer changed meanwhile are the present ones. */
  async function clientOf(settings: IssuerSettings): Promise<oidc.Configuration> {
    const { clientId, clientSecret } = settings;
    const metadata = await metadataOf(settings);
    const config = new oidc.Configuration(metadata, clientId, {}, authenticationOf(metadata, clientSecret));
    config[oidc.customFetch] = fetch as oidc.CustomFetch;
    oidc.enableNonRepudiationChecks(config);
    if (isPlainLoopback(new URL(settings.issuer))) oidc.allowInsecureRequests(config);
    return config;
  }

  /** Runs an exchange with an issuer. @throws MeshError for all that goes wrong */
  async function withIssuer<T>(
    name: string,
    work: (config: oidc.Configuration, settings: IssuerSettings) => Promise<T>,
  ): Promise<T> {
    const settings = byName.get(name);
    if (!settings) throw new MeshError('not_found', `No issuer ${name} signs people in here.`);
    const failed = (problem: MeshError, error: unknown) => {
      const level = problem.code === 'unavailable' ? 'warn' : 'info';
      log[level]({ issuer: name, reason: reasonOf(error) }, 'an issuer signed nobody in');
      return problem;
    };
    const config = await clientOf(settings).catch((error: unknown) => {
      throw failed(unavailable(settings), error);
    });
    try {
      return await work(config, settings);
    } catch (error) {
      throw failed(error instanceof MeshError ? error : problemOf(settings, error), error);
    }
  }

  return {
    begin: (name, redirectUri, { state, nonce, verifier }) =>
      withIssuer(name, async (config, settings) => {
        const challenge = await oidc.calculatePKCECodeChallenge(verifier);
        const parameters = { redirect_uri: redirectUri, scope: settings.scopes.join(' '), state, nonce };
        const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
        return webAddress(oidc.buildAuthorizationUrl(config, { ...parameters, ...pkce }), settings);
      }),

    finish: (name, redirectUri, query, { state, nonce, verifier }) =>
      withIssuer(name, async (config) => {
        const url = new URL(redirectUri);
        url.search = query;
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        };
        const tokens = await oidc.authorizationCodeGrant(config, url, checks).catch(clientRefusal);
        return identityOf(config, tokens, tokens.claims()?.sub ?? '');
      }),

    refresh: (name, refreshToken, subject) =>
      withIssuer(name, async (config, settings) => {
        const granted = oidc.refreshTokenGrant(config, refreshToken).catch(clientRefusal);
        const tokens = await granted.catch(undefinedWhereRefused);
        if (!tokens) return undefined;
        const told = tokens.claims()?.sub ?? subject;
        if (told !== subject) return undefined;
        return identityOf(config, tokens, subject).catch((error: unknown) => {
          if (error instanceof MeshError || problemOf(settings, error).code !== 'unavailable') throw error;
          log.warn({ issuer: name, reason: reasonOf(error) }, 'an issuer confirmed a session without claims');
          // The refresh token before counts no more, so this one is to be kept.
          return { subject, claims: {}, refreshToken: tokens.refresh_token, idToken: tokens.id_token };
        });
      }),

    signOut: (name, returnTo, idToken) =>
      withIssuer(name, async (config, settings) => {
        if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
        const hint = idToken === undefined ? {} : { id_token_hint: idToken };
        return webAddress(oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo, ...hint }), settings);
      }),
  };
}

type Tokens = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers;

/** Claims of the ID token, and of the user info where the issuer has it: not every issuer puts groups into both. */
async function identityOf(config: oidc.Configuration, tokens: Tokens, subject: string): Promise<IssuedIdentity> {
  if (subject === '' || subject.length > MAX_SUBJECT) {
    throw new MeshError('unauthenticated', 'The issuer names no subject that can be kept: tell an administrator.');
  }
  const hasUserInfo = config.serverMetadata().userinfo_endpoint !== undefined;
  const told = hasUserInfo ? await oidc.fetchUserInfo(config, tokens.access_token, subject).catch(userInfoRefusal) : {};
  return {
    subject,
    claims: { ...told, ...tokens.claims() },
    refreshToken: tokens.refresh_token,
    idToken: tokens.id_token,
  };
}

/** As the issuer takes it: most take the basic form, which they have to where they do not say (OpenID Connect Discovery, 3). */
function authenticationOf(
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: oidc.ServerMetadata,
  secret: Secret | undefined,
): oidc.ClientAuth {
  if (!secret) return oidc.None();
  const isBasic = methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
  return isBasic ? oidc.ClientSecretBasic(secret.reveal()) : oidc.ClientSecretPost(secret.reveal());
}

/** The page goes there, so it must be no script. */
function webAddress(url: URL, { issuer }: IssuerSettings): string {
  if (url.protocol !== 'https:' && !isPlainLoopback(new URL(issuer)))
    throw new TypeError('it leads to no https address');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TypeError('it leads to no web address');
  return url.href;
}

function isPlainLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && isLoopback(hostname);
}

/** The issuer says that the person may not go on, or that its token is unknown: no fault of the way there. */
function undefinedWhereRefused(error: unknown): undefined {
  if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant') return undefined;
  throw error;
}

/** @throws Error that says so where the issuer does not take the credentials of the control plane: no fault of the person */
function clientRefusal(error: unknown): never {
  const isRefusal =
    error instanceof oidc.WWWAuthenticateChallengeError ||
    (error instanceof oidc.ResponseBodyError && error.error === 'invalid_client');
  if (!isRefusal) throw error;
  throw new Error('it refuses the client: check clientId and the client secret of this issuer in app.oidc', {
    cause: error,
  });
}

/** @throws MeshError `unauthenticated` for what concerns one person alone: the issuer answers others */
function userInfoRefusal(error: unknown): never {
  const { cause } = error as Error;
  if (!(error instanceof oidc.WWWAuthenticateChallengeError || cause instanceof RangeError)) throw error;
  const message = 'The issuer does not say who you are, or says more than can be read: tell an administrator.';
  throw new MeshError('unauthenticated', message);
}

/** An answer that the issuer gave on purpose, or that does not hold, is no outage. */
function problemOf(settings: IssuerSettings, error: unknown): MeshError {
  const { title } = settings;
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    const told = plainText(error.error_description ?? error.error);
    return new MeshError('unauthenticated', `${title} did not sign you in: ${told}. Sign in again.`);
  }
  if (error instanceof oidc.ClientError && DOES_NOT_HOLD.has(error.code ?? '')) {
    const message = `What ${title} sent back does not hold, so nobody was signed in: sign in again, and tell an administrator if that stays.`;
    return new MeshError('unauthenticated', message);
  }
  return unavailable(settings);
}

function unavailable({ title }: IssuerSettings): MeshError {
  const message = `${title} cannot be reached or does not answer as it should: try again later, or sign in another way.`;
  return new MeshError('unavailable', message);
}

const DOES_NOT_HOLD: ReadonlySet<string> = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_UNSUPPORTED_OPERATION',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
]);

function plainText(text: string): string {
  return text
    .replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, ' ')
    .slice(0, MAX_TOLD)
    .replace(/\.$/, '');
}

/** For the log: no token is in the messages of the library, but what an issuer sent may be in their causes. */
function reasonOf(error: unknown): string {
  const { message, code, cause } = error as Error & { readonly code?: string };
  const deeper = cause instanceof Error ? `: ${cause.message}` : '';
  return `${message}${code === undefined ? '' : ` (${code})`}${deeper}`.slice(0, 2 * MAX_TOLD);
}
