import type { FetchDocument } from '../../../core/base/ports.ts';
import type { AgentGrant, AuthorizationServer } from '../../../core/model/authorization-server.ts';
import { isOwnResource } from '../../../core/model/oauth.ts';
import type { PolicyPreset } from '../../../core/model/resources.ts';
import { type IdentityKitOptions, START } from './identity-kit.ts';
import { buildIssuerKit, CORP, identity, ORIGIN } from './issuer-kit.ts';
import { type Issued, workloadIssuer } from './workloads.ts';

export const RESOURCE = `${ORIGIN}/mcp`;

/** A grant that gives what it says, by membership in a group. */
export function agentGrant(value: string, over: Partial<AgentGrant> = {}): AgentGrant {
  const reach: AgentGrant['reach'] = [];
  const policyPreset: PolicyPreset = 'inherit';
  return {
    ...{ claim: 'groups', value, workspace: 'prod', ttl: '24h', policyPreset, reach },
    scopes: ['network:read', 'snapshots:read', 'intents:plan'],
    ...over,
  };
}

interface IssuedKitOptions extends Pick<IdentityKitOptions, 'issuers' | 'publicUrls'> {
  readonly takesAssertions?: boolean;
}

/** The issuer kit where clients are let in by Example Corp too, whose access tokens a test has issued; ada has signed in. */
export async function buildIssuedKit(
  grants: readonly AgentGrant[] = [agentGrant('operators')],
  { takesAssertions = false, ...options }: IssuedKitOptions = {},
) {
  const authorizationServer: AuthorizationServer = { issuer: CORP.issuer, grants, allow: [], takesAssertions };
  const clock = { time: START };
  const issuer = await workloadIssuer(CORP.issuer, { now: () => clock.time, audience: RESOURCE });
  const keys = await issuer.keys();
  const fetchDocument: FetchDocument = async (url) => ({
    json: url.endsWith('/keys') ? { keys } : { issuer: CORP.issuer, jwks_uri: `${CORP.issuer}/keys` },
  });
  const kit = await buildIssuerKit({ authorizationServer, fetchDocument, ...options });
  if (!options.issuers) await kit.signIn(identity('ada@example.com', ['admins'], 'ada'));

  const tokenOf = (claims: object = {}, given: Issued = {}) => {
    clock.time = kit.clock.time;
    return issuer.token({ sub: 'ada', client_id: 'planner', groups: ['operators'], ...claims }, given);
  };
  const accepts = (audience: string) => isOwnResource(audience, kit.services.settings);

  return {
    ...kit,
    tokenOf,
    /** Comes to /mcp with a token. */
    authenticate: (bearer: string) => kit.gate.authenticate(bearer, '127.0.0.1', { accepts }),
    /** As {@link authenticate}, with a new token of these claims. */
    comeWith: async (claims: object = {}) => kit.gate.authenticate(await tokenOf(claims), '127.0.0.1', { accepts }),
    /** Calls as a platform administrator. */
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
    root: async (name: string, raw: Record<string, unknown> = {}): Promise<any> =>
      kit.call(name, raw, { bearer: await kit.admin(), workspace: kit.prod }),
    /** Writes made so far. */
    revision: async () => (await kit.services.states.current(kit.prod)).revision,
  };
}
