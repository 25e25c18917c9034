import { randomBytes } from 'node:crypto';
import { type Adapter, errors } from 'oidc-provider';
import { digestOf } from '../../core/identity/oauth-grants.ts';
import { OAUTH_SCOPES } from '../../core/model/oauth.ts';
import type { OAuthDecision, OAuthRequest } from '../../core/model/oauth-requests.ts';
import { deviceRequestId } from '../../core/model/waiting-requests.ts';
import type { Services } from '../../core/workflow/services.ts';
import { createRateWindows } from '../rate-windows.ts';
import type { FindClient } from './client-ids.ts';

/** Seconds between two polls of a device (RFC 8628, 3.2). */
export const POLL_S = 5;
const POLLS_IN_WINDOW = 3;
const WINDOWS = 10_000;
const PREFIX = 'mesh-oac-';
/** The code that a person types, without its hyphen; the first part of the code of the device, which finds the request by it. */
const USER_CODE_LENGTH = 8;
const LENGTH = 43;

export interface DeviceCodeOptions {
  readonly services: Pick<Services, 'oauthRequests' | 'clock'>;
  readonly findClient: FindClient;
  /** Address that the request came from. */
  readonly origin: () => string;
}

export function newDeviceCode(userCode: string): string {
  const tail = randomBytes(LENGTH)
    .toString('base64url')
    .slice(0, LENGTH - USER_CODE_LENGTH);
  return `${PREFIX}${userCode}${tail}`;
}

/** Keeps the codes of devices (RFC 8628) as requests that wait for a person, who finds them by the code that the device shows. */
export function deviceCodes({ services, findClient, origin }: DeviceCodeOptions): Partial<Adapter> {
  const { oauthRequests, clock } = services;
  const polls = createRateWindows(POLL_S * POLLS_IN_WINDOW * 1_000, WINDOWS);

  async function find(value: string): Promise<OAuthRequest | undefined> {
    const request = await oauthRequests.find(idIn(value));
    return request?.payload['digest'] === digestOf(value) ? request : undefined;
  }

  return {
    async upsert(value, { jti: _, ...payload }, expiresIn = 0) {
      const { client_id: clientId, resource, scope } = payload.params ?? {};
      const client = await findClient(String(clientId));
      if (!client) throw new errors.InvalidClient('client not found');
      if (typeof resource !== 'string') throw new errors.InvalidTarget('name one resource');
      const request = {
        client: { id: String(clientId), name: client.name, host: 'another device', document: client.document },
        origin: origin(),
        resource,
        scopes: OAUTH_SCOPES.filter((one) => String(scope).split(' ').includes(one)),
        payload: { ...payload, digest: digestOf(value) },
      };
      await oauthRequests.save(idIn(value), request, clock.now() + expiresIn * 1_000, request.origin);
    },
    async find(value) {
      const request = await find(value);
      if (!request) return undefined;
      const window = polls.at(idIn(value), POLLS_IN_WINDOW, performance.now());
      window.count++;
      if (window.count > POLLS_IN_WINDOW + 1) throw new errors.SlowDown();
      const { digest: _, ...payload } = request.payload;
      return { ...payload, jti: value, ...(request.decision && decided(request, request.decision)) };
    },
    /** Of two polls after the decision one gets the tokens. */
    async consume(value) {
      if (!(await oauthRequests.remove(idIn(value)))) throw new errors.InvalidGrant('device code already used');
    },
    destroy: async (value) => void (await oauthRequests.remove(idIn(value))),
  };
}

function idIn(value: string): string {
  return deviceRequestId(value.slice(PREFIX.length, PREFIX.length + USER_CODE_LENGTH));
}

function decided({ resource, scopes }: OAuthRequest, { grantId, account }: OAuthDecision) {
  if (grantId === undefined) return { error: 'access_denied', errorDescription: 'The person refused.' };
  return { accountId: account, grantId, resource, scope: scopes.join(' ') };
}
