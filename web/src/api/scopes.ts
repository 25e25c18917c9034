/** Verbs of what each scope allows. */
export const SCOPE_WORDS = {
  'network:read': 'see peers, policies and who reaches whom',
  'network:write': 'change peers, policies and networks',
  'peers:approve': 'approve and revoke devices',
  'tokens:write': 'create join tokens',
  'snapshots:read': 'see the past',
  'snapshots:write': 'take snapshots',
  'intents:plan': 'plan changes',
  'intents:apply': 'submit changes for approval',
  'intents:override': 'submit changes that do not match the request',
  'workflows:approve': 'approve changes',
  'audit:read': 'read the audit log',
  'compliance:assess': 'assess compliance',
  'agents:write': 'create and end agents',
  'agents:delegate': 'delegate to sub-agents',
  'members:write': 'change members, webhooks and schedules',
  'users:write': 'change accounts',
  'workspaces:write': 'change workspaces',
} as const;

export type Scope = keyof typeof SCOPE_WORDS;

/** Returns scopes as a list in words. */
export function scopeWords(scopes: readonly string[]): string {
  return scopes.map((scope) => SCOPE_WORDS[scope as Scope] ?? scope).join(', ') || 'nothing';
}
