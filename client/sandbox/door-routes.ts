import { PERSON_ONLY_SCOPES } from '../../core/base/scope.ts';

/** A request that passes the door: its method, and its path as segments, where null takes any one segment. */
interface Route {
  readonly method: string;
  readonly segments: readonly (string | null)[];
}

/** Reads and writes of the MCP endpoint, which holds every tool to the scopes of its caller. */
const MCP: readonly Route[] = ['POST', 'GET', 'DELETE'].map((method) => ({ method, segments: ['mcp'] }));
const API = /^\/api\/v1\//;
const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);
/** Segments that a server in front of the control plane could read as another path. */
const AMBIGUOUS = /[/\\]|^\.{0,2}$/;
const PLAIN_PATH = /^\/[\w.~!$&'()*+,;=:@%/-]*$/;

/**
 * Returns the routes whose scopes an agent holds. Operations of anybody, of persons, devices and join tokens are not among them.
 *
 * @param document OpenAPI document of the control plane
 */
export function routesFor(document: unknown, scopes: readonly string[]): readonly Route[] {
  const held: ReadonlySet<unknown> = new Set(
    [...scopes, 'authenticated', 'agent'].filter((scope) => !(PERSON_ONLY_SCOPES as ReadonlySet<string>).has(scope)),
  );
  const routes = entriesOf((document as { readonly paths?: unknown } | null)?.paths).flatMap(([path, methods]) =>
    entriesOf(API.test(path) ? methods : undefined).flatMap(([method, operation]) => {
      const { 'x-required-scope': scope, 'x-required-read-scope': readScope } = (operation ?? {}) as Fields;
      if (!METHODS.has(method) || !held.has(scope) || !(readScope === undefined || held.has(readScope))) return [];
      return [{ method: method.toUpperCase(), segments: path.slice(1).split('/').map(wildcardOf) }];
    }),
  );
  return [...MCP, ...routes];
}

type Fields = Readonly<Record<string, unknown>>;

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function wildcardOf(segment: string): string | null {
  return segment.startsWith('{') ? null : segment;
}

/** Tells whether a request passes: one that is in none of the routes does not. */
export function passes(routes: readonly Route[], method: string, target: string): boolean {
  const path = target.split('?', 1)[0] ?? '';
  if (!PLAIN_PATH.test(path)) return false;
  const segments = path.slice(1).split('/');
  if (segments.some(isAmbiguous)) return false;
  return routes.some(
    (route) =>
      route.method === method &&
      route.segments.length === segments.length &&
      route.segments.every((wanted, at) => wanted === null || wanted === segments[at]),
  );
}

function isAmbiguous(segment: string): boolean {
  try {
    return AMBIGUOUS.test(decodeURIComponent(segment));
  } catch {
    return true;
  }
}
