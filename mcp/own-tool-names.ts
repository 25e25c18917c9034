import type { AnyOperation } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';

const WORD = /\w+/g;

/**
 * Returns a function that gives a text in which each operation that is no tool of a caller stands as its REST route: a model calls
 * the tools that it reads of.
 */
export function ownToolNames(operations: readonly AnyOperation<Services>[]) {
  const routes = new Map(operations.map(({ name, http }) => [name, `${http.method.toUpperCase()} ${http.path}`]));
  return (text: string, tools: ReadonlySet<string>): string =>
    text.replaceAll(WORD, (name) => (tools.has(name) ? name : (routes.get(name) ?? name)));
}
