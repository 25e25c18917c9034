import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { NEVER_DELEGATED, PERSON_ONLY_SCOPES, ROLE_SCOPES, type Role, SCOPES, type Scope } from '../base/scope.ts';

const KNOWN: ReadonlySet<string> = new Set(SCOPES);

/**
 * Returns the scopes that a token other than a session may hold of these scopes and roles: never those of persons alone. The
 * scope to apply unverified plans (`intents:override`) comes with no role, only by its name.
 */
export function expandScopes(names: readonly string[]): ReadonlySet<Scope> {
  const scopes = new Set<Scope>();
  for (const name of names) {
    if (isScope(name)) scopes.add(name);
    else if (isRole(name)) for (const scope of ROLE_SCOPES[name]) if (scope !== 'intents:override') scopes.add(scope);
  }
  for (const scope of PERSON_ONLY_SCOPES) scopes.delete(scope);
  return scopes;
}

/** The scopes in both. */
export function commonScopes(a: ReadonlySet<Scope>, b: ReadonlySet<Scope>): ReadonlySet<Scope> {
  return a.intersection(b);
}

export const NO_SCOPES: ReadonlySet<Scope> = new Set();

/**
 * Holds who names a record of the network to the right to read it: whether it is refused tells whether it is there.
 *
 * @throws MeshError `forbidden`, the same for what is there and what is not
 */
export function requireMayName(caller: Caller, workspace: string, what: string): void {
  if (caller.scopesIn(workspace).has('network:read')) return;
  const detail = `Naming ${what} needs the scope network:read: what is refused tells what is there.`;
  throw new MeshError('forbidden', detail, { scope: 'network:read' });
}

/** @throws MeshError `forbidden` */
export function requireScope({ caller, workspace }: Pick<CallContext<object>, 'caller' | 'workspace'>, scope: Scope) {
  if (caller.scopesIn(workspace).has(scope)) return;
  throw new MeshError('forbidden', `This needs the scope ${scope}, which you do not hold here.`, { scope });
}

export function isScope(name: string): name is Scope {
  return KNOWN.has(name);
}

function isRole(name: string): name is Role {
  return Object.hasOwn(ROLE_SCOPES, name);
}

/**
 * Holds a new root agent to what its maker holds. `agents:delegate` belongs to no role and is the maker's to give.
 * An agent makes no root agent: it would outlive and outgrow its own bounds. It delegates.
 *
 * @param advice what to do where that is more, in place of the usual
 * @returns the person who gives
 * @throws MeshError `forbidden`
 */
export function requireGrantable(caller: Caller, workspace: string, scopes: readonly Scope[], advice?: string): Caller {
  if (caller.kind !== 'user') {
    throw new MeshError(
      'forbidden',
      'A root agent is made by a person or their API token. An agent delegates instead.',
    );
  }
  const named = scopes.filter((scope) => NEVER_DELEGATED.has(scope));
  if (named.length > 0 && !caller.interactive) {
    throw new MeshError(
      'forbidden',
      `Only a signed-in person gives ${named.join(', ')} to an agent: log in, or leave it out.`,
      { scope: named[0] },
    );
  }
  requireWithin(
    scopes.filter((scope) => scope !== 'agents:delegate'),
    caller.scopesIn(workspace),
    advice,
  );
  return caller;
}

/** @throws MeshError `forbidden` naming what is asked for beyond what is held */
export function requireWithin(asked: readonly Scope[], held: ReadonlySet<Scope>, advice = 'ask for less.'): void {
  const wider = asked.filter((scope) => !held.has(scope));
  if (wider.length === 0) return;
  throw new MeshError('forbidden', `You do not hold ${wider.join(', ')} in this workspace: ${advice}`, {
    scope: wider[0],
  });
}
