import { PERSON_ONLY_SCOPES, ROLE_SCOPES, type Role, SCOPES, type Scope } from '../scope.ts';

const KNOWN: ReadonlySet<string> = new Set(SCOPES);

/** What a token that is not a session may hold of these scopes and roles: never what only a person may do. */
export function expandScopes(names: readonly string[]): ReadonlySet<Scope> {
  const scopes = new Set<Scope>();
  for (const name of names) {
    if (isScope(name)) scopes.add(name);
    else if (isRole(name)) for (const scope of ROLE_SCOPES[name]) scopes.add(scope);
  }
  for (const scope of PERSON_ONLY_SCOPES) scopes.delete(scope);
  return scopes;
}

/** The scopes in both. */
export function commonScopes(a: ReadonlySet<Scope>, b: ReadonlySet<Scope>): ReadonlySet<Scope> {
  return a.intersection(b);
}

export const NO_SCOPES: ReadonlySet<Scope> = new Set();

export function isScope(name: string): name is Scope {
  return KNOWN.has(name);
}

function isRole(name: string): name is Role {
  return Object.hasOwn(ROLE_SCOPES, name);
}
