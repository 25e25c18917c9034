import { decodeJwt, type JWTHeaderParameters, type JWTPayload } from 'jose';
import { MeshError } from '../../core/base/errors.ts';
import type { Clock, FetchDocument } from '../../core/base/ports.ts';
import type { Secret } from '../../core/base/secret.ts';
import { TEXT_LIMITS } from '../../core/base/text.ts';
import {
  type AccessTokenVerifier,
  claimsWithScopes,
  type IssuedAccess,
} from '../../core/model/authorization-server.ts';
import { oauthSecret, ownIssuer, publicResources } from '../../core/model/oauth.ts';
import type { Settings } from '../../core/model/services.ts';
import { WORKLOAD_SKEW_S } from '../../core/model/workload-identity.ts';
import { buildFetchDocument } from '../outgoing/document.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { buildOwnAccessTokens } from './own-access-tokens.ts';
import { type Expected, reasonOf, verifyByIssuer } from './signed-tokens.ts';

/** Of RFC 9068, or of issuers that say nothing of the kind; the JWTs of other protocols say what they are. */
const TYPES: ReadonlySet<string | undefined> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);
/** Claims that name the client: of RFC 9068, OpenID Connect, Okta and Microsoft. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'cid', 'appid'] as const;
/** Who is shut out at the issuer is out here when the token ends. */
const MAX_LIFE_S = 86_400;
/** Of an identity assertion (draft-ietf-oauth-identity-assertion-authz-grant, 3). */
const ASSERTION_TYPE = 'oauth-id-jag+jwt';
/** How far from now an assertion may end: each that was used is remembered until then. */
const MAX_ASSERTION_S = 1_800;

export interface AccessTokenOptions {
  readonly settings: Pick<Settings, 'publicUrls' | 'authorizationServer'>;
  readonly keys: { readonly controlPrivateKey: Secret };
  readonly clock: Clock;
  readonly fetchDocument?: FetchDocument;
}

/**
 * Returns the verifier of the access tokens of `app.oauth.issuer` (RFC 9068), and of those that are issued here for its identity
 * assertions; undefined where there is no such issuer.
 */
export function buildAccessTokenVerifier({
  settings,
  keys,
  clock,
  fetchDocument,
}: AccessTokenOptions): AccessTokenVerifier | undefined {
  if (!settings.authorizationServer) return undefined;
  const { issuer, allow, takesAssertions } = settings.authorizationServer;
  const resources = [...new Set(publicResources(settings))];
  const self = takesAssertions ? ownIssuer(settings) : undefined;
  const own = self === undefined ? undefined : buildOwnAccessTokens(self, issuer, oauthSecret(keys, 'access'), clock);
  // Who runs the host names the issuer, so it may be inside of the own network.
  const { hostname } = new URL(issuer);
  const reachable = [hostname.replaceAll(/[[\]]/g, ''), ...allow];
  const published = new IssuerKeys(fetchDocument ?? buildFetchDocument({ allow: reachable }), () => clock.now());

  async function verifyIssued(token: string, audiences: readonly string[], requireKind: RequireKind) {
    const expected = { issuer, audiences };
    const { payload, protectedHeader } = await explained(verifyByIssuer(published, token, expected, clock), expected);
    requireKind(protectedHeader);
    return { payload, facts: factsOf(payload, clock) };
  }

  return {
    isOf: (token) => [issuer, own?.issuer].includes(payloadOf(token)?.iss ?? ''),
    async verify(token) {
      if (own && payloadOf(token)?.iss === own.issuer) {
        return explained(own.verify(token, resources), { issuer: own.issuer, audiences: resources });
      }
      const { payload, facts } = await verifyIssued(token, resources, requireAccessToken);
      const { aud, iat = 0, exp = 0 } = payload;
      const [resource = '', ...others] = ownAmong(aud, resources);
      // It would be two agents.
      if (others.length > 0) throw refused(`it is for ${[resource, ...others].join(' and ')}: ask for one of them`);
      if (exp - iat > MAX_LIFE_S + WORKLOAD_SKEW_S) throw refused('it lasts longer than a day');
      return { ...facts, resource };
    },
    assertions: own && {
      async verify(assertion) {
        const { payload, facts } = await verifyIssued(assertion, [own.issuer], requireAssertion);
        const { aud, exp = 0, jti, resource } = payload;
        const id = textOf(jti);
        if ([aud].flat().length > 1) throw refused('it is for others too');
        if (payload['client_id'] !== facts.clientId) throw refused('its claim client_id is missing');
        if (id === undefined) throw refused('its claim jti is missing, or too long');
        if (exp > clock.now() / 1_000 + MAX_ASSERTION_S + WORKLOAD_SKEW_S) {
          throw refused(`it ends more than ${MAX_ASSERTION_S / 60} minutes from now`);
        }
        const named = resource === undefined ? resources : ownAmong(resource, resources);
        if (named.length === 0) throw refused(`its resource is not ${resources.join(' or ')}`);
        return { ...facts, id, resources: named };
      },
      issue: own.issue,
    },
  };
}

/** @throws MeshError `unauthenticated` for a JWT of another kind */
type RequireKind = (header: JWTHeaderParameters) => void;

async function explained<T>(verified: Promise<T>, expected: Expected): Promise<T> {
  try {
    return await verified;
  } catch (error) {
    throw error instanceof MeshError ? error : refused(reasonOf(error, expected));
  }
}

/** @throws MeshError `unauthenticated` where a fact is missing, or it counts with a proof of a key alone */
function factsOf(payload: JWTPayload, clock: Clock): Omit<IssuedAccess, 'resource'> {
  // Without a look at the proof (RFC 9449, RFC 8705) a thief could use it.
  if (payload['cnf'] !== undefined) throw refused('it is bound to a key (cnf): have a bearer token issued');
  const { sub, iat = 0, exp = 0 } = payload;
  const subject = textOf(sub);
  const clientId = CLIENT_CLAIMS.map((name) => textOf(payload[name])).find((value) => value !== undefined);
  if (subject === undefined) throw refused('its claim sub is missing, or too long');
  if (clientId === undefined) throw refused(`no claim names its client: ${CLIENT_CLAIMS.join(', ')}`);
  if (iat > clock.now() / 1_000 + WORKLOAD_SKEW_S) throw refused('it was issued in the future');
  const signedInAt = payload['auth_time'];
  return {
    subject,
    clientId,
    issuedAt: iat * 1_000,
    // As long as it counts, where an issuer tells a fraction of a second.
    expiresAt: (Math.ceil(exp) + WORKLOAD_SKEW_S) * 1_000,
    ...(typeof signedInAt === 'number' && { signedInAt: signedInAt * 1_000 }),
    claims: claimsWithScopes(payload),
  };
}

function requireAccessToken(header: JWTHeaderParameters): void {
  const type = typeOf(header);
  if (!TYPES.has(type)) throw refused(`it is no access token but of the type ${type?.slice(0, 40)}`);
}

function requireAssertion(header: JWTHeaderParameters): void {
  const kind = typeOf(header)?.replace('application/', '');
  if (kind !== ASSERTION_TYPE) throw refused(`it is no identity assertion: its type is not ${ASSERTION_TYPE}`);
}

/** Of a header that was signed, and may hold anything all the same. */
function typeOf({ typ }: JWTHeaderParameters): string | undefined {
  return typ === undefined ? undefined : String(typ).toLowerCase();
}

/** Returns those of the own addresses that a claim names. */
function ownAmong(claim: unknown, own: readonly string[]): readonly string[] {
  const named: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return own.filter((one) => named.includes(one));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LIMITS.hostname ? value : undefined;
}

function payloadOf(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

function refused(reason: string): MeshError {
  return new MeshError('unauthenticated', `This token does not count: ${reason}.`);
}
