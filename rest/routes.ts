import type { AnyOperation } from '../core/base/operation.ts';

/** An operation at its path. `params` are the names of the path's parameters, in order. */
export interface Route<Services> {
  readonly operation: AnyOperation<Services>;
  readonly params: readonly string[];
}

export type Match<Services> =
  | { readonly route: Route<Services>; readonly values: readonly string[] }
  | { readonly allow: readonly string[] }
  | undefined;

interface Node<Services> {
  readonly literals: Map<string, Node<Services>>;
  param?: Node<Services>;
  readonly methods: Map<string, Route<Services>>;
}

/**
 * Finds the operation of a method and path in one walk over its segments, whatever the number of operations.
 * Literal segments win over parameters, so `/snapshots/diff` is not read as a snapshot id.
 *
 * @throws TypeError when two operations claim the same method and path.
 */
export function buildRoutes<Services>(operations: readonly AnyOperation<Services>[]) {
  const root = emptyNode<Services>();
  for (const operation of operations) {
    for (const path of [operation.http.path, ...(operation.http.aliases ?? [])]) insert(root, operation, path);
  }

  return function find(method: string, path: string): Match<Services> {
    const segments = segmentsOf(path);
    const allow = new Set<string>();
    const wanted = method === 'HEAD' ? 'GET' : method;
    const found = walk(root, segments, 0, [], wanted, allow);
    return found ?? (allow.size > 0 ? { allow: [...allow] } : undefined);
  };
}

function emptyNode<Services>(): Node<Services> {
  return { literals: new Map(), methods: new Map() };
}

function insert<Services>(root: Node<Services>, operation: AnyOperation<Services>, path: string): void {
  const { method } = operation.http;
  const params: string[] = [];
  let node = root;
  for (const segment of segmentsOf(path)) {
    if (segment.startsWith(':')) {
      params.push(segment.slice(1));
      node.param ??= emptyNode();
      node = node.param;
    } else {
      const next = node.literals.get(segment) ?? emptyNode<Services>();
      node.literals.set(segment, next);
      node = next;
    }
  }
  const verb = method.toUpperCase();
  const other = node.methods.get(verb);
  if (other) throw new TypeError(`${operation.name} and ${other.operation.name} both answer ${verb} ${path}.`);
  node.methods.set(verb, { operation, params });
}

function walk<Services>(
  node: Node<Services>,
  segments: readonly string[],
  index: number,
  values: readonly string[],
  method: string,
  allow: Set<string>,
): { route: Route<Services>; values: readonly string[] } | undefined {
  const segment = segments[index];
  if (segment === undefined) {
    const route = node.methods.get(method);
    if (route) return { route, values };
    for (const verb of node.methods.keys()) allow.add(verb);
    return undefined;
  }
  const literal = node.literals.get(segment);
  const found = literal && walk(literal, segments, index + 1, values, method, allow);
  if (found || !node.param || segment === '') return found;
  return walk(node.param, segments, index + 1, [...values, segment], method, allow);
}

/** Without the leading slash and one trailing slash. */
function segmentsOf(path: string): string[] {
  return path.slice(1, path.endsWith('/') ? -1 : undefined).split('/');
}
