import { decodeJwt, type JWTHeaderParameters, type JWTPayload } from 'jose';
import { MeshError } from '../../core/base/errors.ts';
import type { Clock, FetchDocument } from '../../core/base/ports.ts';
import { TEXT_LIMITS } from '../../core/base/text.ts';
import { type AccessTokenVerifier, claimsWithScopes } from '../../core/model/authorization-server.ts';
import { publicResources } from '../../core/model/oauth.ts';
import type { Settings } from '../../core/model/services.ts';
import { WORKLOAD_SKEW_S } from '../../core/model/workload-identity.ts';
import { buildFetchDocument } from '../outgoing/document.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { reasonOf, verifyByIssuer } from './signed-tokens.ts';

/** Of RFC 9068, or of issuers that say nothing of the kind; the JWTs of other protocols say what they are. */
const TYPES: ReadonlySet<string | undefined> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);
/** Claims that name the client: of RFC 9068, OpenID Connect, Okta and Microsoft. */
const CLIENT_CLAIMS = ['client_id', 'azp', 'cid', 'appid'] as const;
/** Who is shut out at the issuer is out here when the token ends. */
const MAX_LIFE_S = 86_400;

export interface AccessTokenOptions {
  readonly settings: Pick<Settings, 'publicUrls' | 'authorizationServer'>;
  readonly clock: Clock;
  readonly fetchDocument?: FetchDocument;
}

/** Returns the verifier of the access tokens of `app.oauth.issuer` (RFC 9068); undefined where there is none. */
export function buildAccessTokenVerifier({
  settings,
  clock,
  fetchDocument,
}: AccessTokenOptions): AccessTokenVerifier | undefined {
  if (!settings.authorizationServer) return undefined;
  const { issuer, allow } = settings.authorizationServer;
  const own = new Set(publicResources(settings));
  const expected = { issuer, audiences: [...own] };
  // Who runs the host names the issuer, so it may be inside of the own network.
  const { hostname } = new URL(issuer);
  const reachable = [hostname.replaceAll(/[[\]]/g, ''), ...allow];
  const published = new IssuerKeys(fetchDocument ?? buildFetchDocument({ allow: reachable }), () => clock.now());

  return {
    isOf: (token) => payloadOf(token)?.iss === issuer,
    async verify(token) {
      const { payload, protectedHeader } = await verifyByIssuer(published, token, expected, clock).catch(
        (error: unknown) => {
          throw error instanceof MeshError ? error : refused(reasonOf(error, expected));
        },
      );
      requireBearer(payload, protectedHeader);
      const { sub, aud, iat = 0, exp = 0 } = payload;
      const resources = [aud].flat().filter((one): one is string => one !== undefined && own.has(one));
      const [resource = ''] = resources;
      // It would be two agents.
      if (resources.length > 1) throw refused(`it is for ${resources.join(' and ')}: ask for one of them`);
      const subject = textOf(sub);
      const clientId = CLIENT_CLAIMS.map((name) => textOf(payload[name])).find((value) => value !== undefined);
      if (subject === undefined) throw refused('its claim sub is missing, or too long');
      if (clientId === undefined) throw refused(`no claim names its client: ${CLIENT_CLAIMS.join(', ')}`);
      if (iat > clock.now() / 1_000 + WORKLOAD_SKEW_S) throw refused('it was issued in the future');
      if (exp - iat > MAX_LIFE_S + WORKLOAD_SKEW_S) throw refused('it lasts longer than a day');
      const signedInAt = payload['auth_time'];
      return {
        subject,
        clientId,
        resource,
        issuedAt: iat * 1_000,
        expiresAt: (exp + WORKLOAD_SKEW_S) * 1_000,
        ...(typeof signedInAt === 'number' && { signedInAt: signedInAt * 1_000 }),
        claims: claimsWithScopes(payload),
      };
    },
  };
}

/** @throws MeshError `unauthenticated` for a JWT of another kind, or one that counts with a proof of a key alone */
function requireBearer(payload: JWTPayload, { typ }: JWTHeaderParameters): void {
  if (!TYPES.has(typ?.toLowerCase())) throw refused(`it is no access token but of the type ${typ?.slice(0, 40)}`);
  // Without a look at the proof (RFC 9449, RFC 8705) a thief could use it.
  if (payload['cnf'] !== undefined) throw refused('it is bound to a key (cnf): have a bearer token issued');
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
  return new MeshError('unauthenticated', `This access token does not count: ${reason}.`);
}
