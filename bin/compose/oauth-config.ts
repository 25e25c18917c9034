import { z } from 'zod';
import { parseDuration } from '../../core/base/duration.ts';
import { ROLE_SCOPES, type Scope, WORKSPACE_ROLES, type WorkspaceRole } from '../../core/base/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { rootAgentFields } from '../../core/identity/agent-request.ts';
import { MAX_AGENT_TTL_MS, MIN_TTL_MS } from '../../core/identity/delegation.ts';
import type { AuthorizationServer } from '../../core/model/authorization-server.ts';
import { DEFAULT_OAUTH_SCOPES, OAUTH_SCOPES, ownIssuer } from '../../core/model/oauth.ts';
import { isAllowEntry } from '../../core/webhooks/target.ts';
import type { AssertionClient } from '../../rest/oauth/assertion-grant.ts';
import { REGISTRATIONS } from '../../rest/oauth/client-ids.ts';
import {
  type ConfiguredIssuer,
  claimFields,
  isGuessable,
  MAX_GRANTS,
  secretAt,
  secretText,
  UNGUESSABLE,
  type Variables,
  variableName,
} from './issuer-config.ts';

const MAX_ASSERTION_CLIENTS = 100;

export const allowEntry = z
  .string()
  .refine(isAllowEntry, { error: 'must be host names, addresses or CIDRs such as hooks.internal or 10.1.0.0/16' });

/** A scope that a client can be given, or the role whose scopes of that kind are meant. */
const scopeOrRole = z.enum([...OAUTH_SCOPES, ...WORKSPACE_ROLES], {
  error: `must be ${WORKSPACE_ROLES.join(', ')}, or scopes that a client can be given: ${OAUTH_SCOPES.join(', ')}`,
});

const grant = z.strictObject({
  ...claimFields,
  scopes: z
    .array(scopeOrRole)
    .min(1)
    .max(OAUTH_SCOPES.length)
    .default([...DEFAULT_OAUTH_SCOPES])
    .transform((names): readonly Scope[] => {
      const asked = new Set(names.flatMap((name) => (isRole(name) ? [...ROLE_SCOPES[name]] : [name])));
      return OAUTH_SCOPES.filter((scope) => asked.has(scope));
    }),
  ttl: z.string().refine(isAgentTtl, 'must be the life of an agent, such as 12h: 90d at most').default('24h'),
  policyPreset: rootAgentFields.policyPreset,
  /** As agents have it (docs/delegation.md#reach). */
  reach: z.any().pipe(rootAgentFields.reach).prefault([]),
});

const assertionClient = z
  .strictObject({
    id: lineOfText(TEXT_LIMITS.hostname).min(1),
    secret: secretText.optional(),
    secretFile: z.string().min(1).optional(),
    secretVariable: variableName.optional(),
  })
  .refine(
    ({ secret, secretFile, secretVariable }) =>
      [secret, secretFile, secretVariable].filter((one) => one !== undefined).length === 1,
    'must have one of secret, secretFile and secretVariable',
  );

/** OAuth clients that people let in, by who may register them, or by another authorization server (docs/oauth.md). */
export const oauthSchema = z
  .strictObject({
    registration: z.enum(REGISTRATIONS, { error: 'must be anyone, local or nobody' }).default('anyone'),
    /** Hosts, addresses and CIDRs that are not on the internet and metadata of clients, or keys, are fetched from all the same. */
    allow: z.array(allowEntry).default([]),
    /** Identifier of another authorization server: one of the issuers in `app.oidc`. */
    issuer: z.string().min(1).optional(),
    /** Agents that claims of its tokens give. */
    grants: z.array(grant).max(MAX_GRANTS).default([]),
    /** Clients that bring identity assertions of the issuer for access tokens of this installation. */
    identityAssertions: z
      .strictObject({
        clients: z
          .array(assertionClient)
          .min(1)
          .max(MAX_ASSERTION_CLIENTS)
          .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'must each have an id of its own'),
      })
      .optional(),
  })
  .refine(({ issuer, grants }) => issuer === undefined || grants.length > 0, {
    path: ['grants'],
    error: 'must say which claims give an agent: nobody else is let in',
  })
  .refine(({ issuer, grants }) => issuer !== undefined || grants.length === 0, {
    path: ['grants'],
    error: 'needs app.oauth.issuer, whose claims they are about',
  })
  .refine(({ issuer, identityAssertions }) => issuer !== undefined || identityAssertions === undefined, {
    path: ['identityAssertions'],
    error: 'needs app.oauth.issuer, whose assertions they bring',
  });

export type ConfiguredOAuth = z.output<typeof oauthSchema>;

interface AppSettings {
  readonly oauth: ConfiguredOAuth;
  readonly oidc: readonly Pick<ConfiguredIssuer, 'issuer'>[];
  readonly publicUrls: readonly string[];
}

/** Returns what an authorization server elsewhere lacks in the rest of the configuration. */
export function missingForIssuer({ oauth, oidc, publicUrls }: AppSettings): string | undefined {
  const { issuer, identityAssertions } = oauth;
  if (issuer === undefined) return undefined;
  if (!oidc.some((one) => one.issuer === issuer)) {
    return 'must be one of the issuers in app.oidc, word for word: whose token it is, is known by who signed in there';
  }
  if (publicUrls.length === 0) return 'needs app.publicUrls: its tokens are for one of those, with /mcp';
  const isSame = identityAssertions !== undefined && ownIssuer({ publicUrls }) === issuer;
  return isSame ? 'must not be the first of app.publicUrls, which issues tokens for identityAssertions' : undefined;
}

/** Returns the other authorization server; undefined where the own one lets clients in. */
export function authorizationServerOf({
  issuer,
  grants,
  allow,
  identityAssertions,
}: ConfiguredOAuth): AuthorizationServer | undefined {
  if (issuer === undefined) return undefined;
  return { issuer, grants, allow, takesAssertions: identityAssertions !== undefined };
}

/** Returns the settings with secrets of files and variables read. Problems are told by the key that names them. */
export function withAssertionSecrets(
  oauth: ConfiguredOAuth,
  variables: Variables,
  problems: string[],
): ConfiguredOAuth {
  const { identityAssertions, ...rest } = oauth;
  if (!identityAssertions) return oauth;
  const clients = identityAssertions.clients.map((client, index) => {
    const where = `config.yaml app.oauth.identityAssertions.clients.${index}`;
    const place = { file: client.secretFile, variable: client.secretVariable };
    const secret = client.secret ?? secretAt(place, `${where}.secret`, variables, problems);
    if (secret && isGuessable(secret)) problems.push(`${where}: the secret ${UNGUESSABLE}`);
    return { ...client, secret };
  });
  return { ...rest, identityAssertions: { clients } };
}

/** Returns the clients that may bring identity assertions; undefined where nobody may. */
export function assertionClientsOf({ identityAssertions }: ConfiguredOAuth): readonly AssertionClient[] | undefined {
  return identityAssertions?.clients.flatMap(({ id, secret }) => (secret ? [{ id, secret }] : []));
}

function isAgentTtl(text: string): boolean {
  const ms = parseDuration(text);
  return ms !== undefined && ms >= MIN_TTL_MS && ms <= MAX_AGENT_TTL_MS;
}

function isRole(name: Scope | WorkspaceRole): name is WorkspaceRole {
  return (WORKSPACE_ROLES as readonly string[]).includes(name);
}
