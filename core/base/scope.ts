/** Rights of a caller in a workspace (docs/accounts-and-tokens.md#roles). */
export const SCOPES = [
  'network:read',
  'network:write',
  'peers:approve',
  'tokens:write',
  'snapshots:read',
  'snapshots:write',
  'intents:plan',
  'intents:apply',
  'intents:override',
  'workflows:approve',
  'audit:read',
  'compliance:assess',
  'agents:write',
  'agents:delegate',
  'members:write',
  'users:write',
  'workspaces:write',
] as const;

export type Scope = (typeof SCOPES)[number];

const VIEWER: readonly Scope[] = ['network:read', 'snapshots:read'];
const AUDITOR: readonly Scope[] = [...VIEWER, 'audit:read', 'compliance:assess'];
const OPERATOR: readonly Scope[] = [
  ...VIEWER,
  'network:write',
  'peers:approve',
  'tokens:write',
  'snapshots:write',
  'intents:plan',
  'intents:apply',
  'workflows:approve',
];
const ADMIN: readonly Scope[] = [
  ...new Set([...OPERATOR, ...AUDITOR]),
  'agents:write',
  'intents:override',
  'members:write',
];

/** Roles of a member in a workspace; `platform_admin` is a role of the account and holds everywhere. */
export const ROLE_SCOPES = {
  viewer: new Set(VIEWER),
  auditor: new Set(AUDITOR),
  operator: new Set(OPERATOR),
  admin: new Set(ADMIN),
  platform_admin: new Set<Scope>([...ADMIN, 'users:write', 'workspaces:write']),
} as const satisfies Record<string, ReadonlySet<Scope>>;

export type Role = keyof typeof ROLE_SCOPES;
export type WorkspaceRole = Exclude<Role, 'platform_admin'>;
export const WORKSPACE_ROLES = ['viewer', 'auditor', 'operator', 'admin'] as const satisfies readonly WorkspaceRole[];

/** Never on an agent or API token, whatever it was asked for: an agent does not approve (docs/decisions/0007-approval-never-over-mcp.md). */
export const PERSON_ONLY_SCOPES: ReadonlySet<Scope> = new Set<Scope>([
  'workflows:approve',
  'users:write',
  'workspaces:write',
]);

/** Never passed on by an agent: a person gives them to a root agent, each by its name. */
export const NEVER_DELEGATED: ReadonlySet<Scope> = new Set<Scope>([
  'tokens:write',
  'peers:approve',
  'intents:override',
  'members:write',
]);

/**
 * The access that an operation requires of its caller: a scope in the workspace; `public` nothing; `authenticated` any
 * credential; `person` a signed-in account; `device` a device token; `enrolment` a join or delegate token; `agent` an agent
 * token.
 */
export type Access = Scope | 'public' | 'authenticated' | 'person' | 'device' | 'enrolment' | 'agent';
