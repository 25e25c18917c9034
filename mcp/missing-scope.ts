import { MeshError } from '../core/base/errors.ts';
import type { Scope } from '../core/base/scope.ts';
import { isScope } from '../core/identity/grants.ts';
import { OAUTH_SCOPES } from '../core/model/oauth.ts';
import type { McpOptions, Principal } from './surface.ts';

/** The refusal of a tool whose scope the person did not give an OAuth client: it may ask them for it. */
export class MissingScope extends MeshError {
  /** Scopes to ask for. A new request replaces the former one, so it names those that the client has too. */
  readonly scopes: readonly Scope[];

  constructor(tool: string, scope: Scope, held: (scope: Scope) => boolean) {
    super('forbidden', `${tool} needs the scope ${scope}, which this client was not given: ask for it.`, { scope });
    this.scopes = OAUTH_SCOPES.filter((one) => one === scope || held(one));
  }
}

/** Returns the scope of each tool that needs one. */
export function scopesOfTools({ operations, tools }: McpOptions): ReadonlyMap<string, Scope> {
  const exposed = new Set(tools);
  return new Map(
    operations.flatMap(({ name, access }) => (exposed.has(name) && isScope(access) ? [[name, access] as const] : [])),
  );
}

/** Returns a refusal where a tool is called without its scope. Only a client of OAuth knows what to do about it; others are answered by the tool. */
export function missingScope(
  { caller }: Principal,
  body: unknown,
  scopes: ReadonlyMap<string, Scope>,
): MissingScope | undefined {
  const { method, params } = Object(body) as { readonly method?: unknown; readonly params?: unknown };
  const { name } = Object(params) as { readonly name?: unknown };
  if (caller.audience === undefined || method !== 'tools/call' || typeof name !== 'string') return undefined;
  const scope = scopes.get(name);
  const { workspaces } = caller;
  if (scope === undefined || workspaces === 'all' || !OAUTH_SCOPES.includes(scope)) return undefined;
  const held = (one: Scope) => workspaces.some((workspace) => caller.scopesIn(workspace).has(one));
  return held(scope) ? undefined : new MissingScope(name, scope, held);
}
