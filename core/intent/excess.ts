import type { NetworkState } from '../network/state.ts';
import { namesOf } from '../network/terms.ts';
import type { Effect } from './effect.ts';
import { counted } from './markdown.ts';
import type { Expectation } from './planner.ts';
import { type PortSpan, portsOf, spanText, subtract } from './port-spans.ts';

const MAX_EXAMPLES = 3;

/**
 * Connections that a change opens and no `allow` names, as a few sentences; none where all that opens was expected. Terms
 * mean who they mean before the change: who is given the label of others was not meant by it.
 */
export function openedBeyond(effect: Effect, expectations: readonly Expectation[], before: NetworkState): string[] {
  const allowed = expectations.flatMap((one) => (one.expect === 'allow' ? [resolved(one, before)] : []));
  const partsOf = partition(allowed);
  const examples: string[] = [];
  let more = 0;
  for (const { src, dst, opened } of effect.groups) {
    if (opened.length === 0) continue;
    for (const { names: from, of: outgoing } of partsOf('src', src)) {
      for (const { names: to, of: incoming } of partsOf('dst', dst)) {
        const meant = outgoing.filter((one) => incoming.includes(one));
        const left = meant.reduce<readonly PortSpan[]>((spans, { ports }) => subtract(spans, ports), opened);
        const pair = left.length === 0 ? undefined : firstPair(from, to);
        if (!pair) continue;
        if (examples.length < MAX_EXAMPLES) {
          examples.push(`it would open ${pair[0]} to ${pair[1]} on ${spanText(left)}, which was not expected`);
        } else more += 1;
      }
    }
  }
  return more > 0 ? [...examples, `and so for ${counted(more, 'more group')} of peers`] : examples;
}

interface Allowed {
  readonly src: ReadonlySet<string>;
  readonly dst: ReadonlySet<string>;
  readonly ports: readonly PortSpan[];
}

function resolved({ src, dst, except = [], ...asked }: Expectation, state: NetworkState): Allowed {
  const left = new Set(except.flatMap((term) => namesOf(term, state)));
  return {
    src: new Set(namesOf(src, state).filter((name) => !left.has(name))),
    dst: new Set(namesOf(dst, state)),
    ports: portsOf(asked),
  };
}

interface Part {
  readonly names: string[];
  readonly of: readonly Allowed[];
}

/** Names by which expectations mean them; worked out once for each set. */
function partition(allowed: readonly Allowed[]) {
  const known = { src: new Map<readonly string[], Part[]>(), dst: new Map<readonly string[], Part[]>() };
  return (side: 'src' | 'dst', names: readonly string[]): readonly Part[] => {
    const found = known[side].get(names);
    if (found) return found;
    const parts = new Map<string, Part>();
    for (const name of names) {
      const indexes = allowed.flatMap((one, index) => (one[side].has(name) ? [index] : []));
      const key = indexes.join(' ');
      const part = parts.get(key) ?? { names: [], of: allowed.filter((_, index) => indexes.includes(index)) };
      parts.set(key, part);
      part.names.push(name);
    }
    const all = [...parts.values()];
    known[side].set(names, all);
    return all;
  };
}

/** A peer never connects to itself. */
function firstPair(from: readonly string[], to: readonly string[]): readonly [string, string] | undefined {
  for (const src of from.slice(0, 2)) {
    const dst = to.find((name) => name !== src);
    if (dst !== undefined) return [src, dst];
  }
  return undefined;
}
