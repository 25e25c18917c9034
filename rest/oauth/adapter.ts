import type { Adapter, AdapterPayload } from 'oidc-provider';
import { errors } from 'oidc-provider';
import { MeshError } from '../../core/base/errors.ts';
import {
  consumeArtifact,
  digestOf,
  endGrant,
  findGrant,
  findGrantByAccess,
  grantIdIn,
  saveArtifact,
} from '../../core/identity/oauth-grants.ts';
import { OAUTH_SCOPES, type OAuthArtifactKind, type OAuthGrant } from '../../core/model/oauth.ts';
import type { Services } from '../../core/workflow/services.ts';
import { DEVICE_GRANT, type FindClient, type RegisteredClient, shownClient } from './client-ids.ts';
import { deviceCodes } from './device-codes.ts';

export type OAuthServices = Pick<Services, 'store' | 'clock' | 'oauthRequests' | 'usedOnce'>;

/**
 * Returns what the authorization server keeps where: clients nowhere, requests in cells, and all that a person granted in one record
 * beside the agent, with which it ends. Sessions are the dashboard's alone, so it keeps none.
 */
export function buildAdapters(
  services: OAuthServices,
  findClient: FindClient,
  origin: () => string,
): (model: string) => Adapter {
  const models: Readonly<Record<string, Partial<Adapter>>> = {
    Client: clients(findClient),
    ReplayDetection: assertions(services),
    Interaction: interactions(services, findClient, origin),
    Grant: grants(services),
    AuthorizationCode: spendable(services, 'code'),
    RefreshToken: spendable(services, 'refresh'),
    AccessToken: accessTokens(services),
    DeviceCode: deviceCodes({ services, findClient, origin }),
  };
  return (model) => ({ ...nothing(), ...models[model] });
}

function nothing(): Adapter {
  const none = async () => undefined;
  return {
    upsert: none,
    find: none,
    findByUserCode: none,
    findByUid: none,
    consume: none,
    destroy: none,
    revokeByGrantId: none,
  };
}

function clients(findClient: FindClient): Partial<Adapter> {
  return {
    async find(id) {
      const client = await findClient(id);
      return client && { client_id: id, client_name: client.name, ...grantsOf(client), ...keysOf(client) };
    },
  };
}

/** A client without an address to send codes to is a device alone. */
function grantsOf({ redirectUris }: RegisteredClient): AdapterPayload {
  if (redirectUris.length > 0) return { redirect_uris: [...redirectUris] };
  return { redirect_uris: [], response_types: [], grant_types: [DEVICE_GRANT, 'refresh_token'] };
}

function keysOf({ keys }: RegisteredClient): AdapterPayload {
  return keys ? { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [...keys] } } : {};
}

/** What a client signs to show that it is that client counts once in the whole installation. */
function assertions({ usedOnce, clock }: OAuthServices): Partial<Adapter> {
  return {
    async upsert(id, { iss }, expiresIn = 0) {
      const expiresAt = clock.now() + expiresIn * 1_000;
      const use = { purpose: 'client-assertion', what: id, owner: String(iss), expiresAt } as const;
      const isFirst = await usedOnce.use(use).catch(unavailable);
      if (!isFirst) throw new errors.InvalidClientAuth('client assertion tokens must only be used once');
    },
  };
}

function interactions(
  { oauthRequests, clock }: OAuthServices,
  findClient: FindClient,
  origin: () => string,
): Partial<Adapter> {
  return {
    async upsert(id, payload, expiresIn = 0) {
      const { client_id: clientId, redirect_uri: redirectUri, resource, scope } = payload.params ?? {};
      const client = await findClient(String(clientId));
      if (!client) throw new errors.InvalidClient('client not found');
      if (typeof resource !== 'string') throw new errors.InvalidTarget('name one resource');
      const asked = new Set(String(scope).split(' '));
      const request = {
        client: shownClient(String(clientId), client, String(redirectUri)),
        redirectUri: String(redirectUri),
        resource,
        scopes: OAUTH_SCOPES.filter((one) => asked.has(one)),
        returnTo: String(payload.returnTo),
        payload: { ...payload },
      };
      await oauthRequests.save(id, request, clock.now() + expiresIn * 1_000, origin()).catch(unavailable);
    },
    async find(id) {
      const request = await oauthRequests.find(id);
      if (!request) return undefined;
      const { decision, payload } = request;
      return { ...(payload as AdapterPayload), ...(decision && { result: resultOf(decision) }) };
    },
    destroy: async (id) => void (await oauthRequests.remove(id)),
  };
}

/** Too many at once: the client tries again. */
function unavailable(error: unknown): never {
  if (!(error instanceof MeshError)) throw error;
  throw new errors.CustomOIDCProviderError('temporarily_unavailable', error.message);
}

function resultOf({ grantId, account }: { readonly grantId?: string | undefined; readonly account: string }) {
  if (grantId === undefined) return { error: 'access_denied', error_description: 'The person refused.' };
  return { login: { accountId: account, remember: false }, consent: { grantId } };
}

function grants(services: OAuthServices): Partial<Adapter> {
  return {
    async find(id) {
      const found = await findGrant(services, id);
      return found && grantPayload(found.grant, found.endsAt);
    },
    destroy: (id) => endGrant(services, id, 'end an OAuth grant'),
  };
}

function grantPayload(grant: OAuthGrant, endsAt: number): AdapterPayload {
  return {
    kind: 'Grant',
    jti: grant.id,
    accountId: grant.account,
    clientId: grant.clientId,
    resources: { [grant.resource]: grant.scopes.join(' ') },
    iat: seconds(grant.grantedAt),
    exp: seconds(endsAt),
  };
}

function spendable(services: OAuthServices, kind: Exclude<OAuthArtifactKind, 'access'>): Partial<Adapter> {
  return {
    upsert: saver(services, kind),
    async find(value) {
      const grantId = grantIdIn(value);
      const artifact = grantId === undefined ? undefined : (await findGrant(services, grantId))?.grant[kind];
      if (!artifact) return undefined;
      const payload = { ...(artifact.payload as AdapterPayload), jti: value };
      // An earlier one: nobody else knows the id of the grant.
      return artifact.digest === digestOf(value) ? payload : { ...payload, consumed: true };
    },
    async consume(value) {
      const isFirst = await consumeArtifact(services, grantIdIn(value) ?? '', kind, value);
      if (!isFirst) throw new errors.InvalidGrant(`${kind} already used`);
    },
    revokeByGrantId: (id) => endGrant(services, id, `end an OAuth grant whose ${kind} was used again or revoked`),
  };
}

function accessTokens(services: OAuthServices): Partial<Adapter> {
  return {
    upsert: saver(services, 'access'),
    async find(value) {
      const access = (await findGrantByAccess(services, value))?.grant.access;
      return access && { ...(access.payload as AdapterPayload), jti: value };
    },
    async destroy(value) {
      const found = await findGrantByAccess(services, value);
      if (found) await endGrant(services, found.grant.id, 'revoke an OAuth access token');
    },
  };
}

/** Keeps the digest of a value, and never the value. */
function saver(services: OAuthServices, kind: OAuthArtifactKind): Adapter['upsert'] {
  return async (value, { jti: _, ...payload }, expiresIn = 0) => {
    const expiresAt = services.clock.now() + expiresIn * 1_000;
    const isSaved = await saveArtifact(services, payload.grantId ?? '', kind, { value, expiresAt, payload });
    if (!isSaved) throw new errors.InvalidGrant('the grant has ended');
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}
