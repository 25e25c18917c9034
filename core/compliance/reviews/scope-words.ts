import type { Scope } from '../../base/scope.ts';

/** Each scope as who reviews access reads it: may … */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  'network:read': 'see the network',
  'network:write': 'change peers, policies and networks',
  'peers:approve': 'let devices in',
  'tokens:write': 'make join tokens',
  'snapshots:read': 'see the past',
  'snapshots:write': 'take snapshots',
  'intents:plan': 'plan changes',
  'intents:apply': 'ask for planned changes',
  'intents:override': 'apply what is not verified',
  'workflows:approve': 'approve changes of others',
  'audit:read': 'read the audit log',
  'compliance:assess': 'assess and review',
  'agents:write': 'make and end agents',
  'agents:delegate': 'make sub-agents',
  'members:write': 'change members and settings',
  'users:write': 'change accounts',
  'workspaces:write': 'make and delete workspaces',
};

/** Returns scopes in words. Names that are no scopes are roles and stay as they are. */
export function inWords(scopes: readonly string[]): string[] {
  return scopes.map((scope) => (SCOPE_WORDS as Readonly<Record<string, string>>)[scope] ?? scope);
}
