import type { PolicySpec, Selector } from '../model/policy.ts';
import { allRulesOf } from '../model/policy-match.ts';
import type { NetworkState } from '../state/state.ts';

/** Terms that are tried for a set of peers. */
const MAX_TERMS = 40;

/** Terms of orders or expectations, and policies, that a change names. */
export interface NamedBy {
  readonly terms?: Iterable<string>;
  /** Names of policies. */
  readonly policies: Iterable<string>;
}

/**
 * Returns the terms of labels (`role=web,env=prod`) by which a change names peers. Its effect is told in these words before
 * any other label that the same peers have: first the given terms, then the selectors of policies before and after it.
 */
export function namedTerms({ terms = [], policies }: NamedBy, before: Policies, after: Policies): readonly string[] {
  const found = new Set<string>();
  for (const term of terms) if (isOfLabels(term)) found.add(term);
  for (const name of policies) {
    for (const { policies: all } of [after, before]) {
      const spec = all.get(name)?.spec;
      for (const selector of spec ? selectorsOf(spec) : []) {
        if (found.size >= MAX_TERMS) return [...found];
        const term = termOf(selector);
        if (term !== undefined) found.add(term);
      }
    }
  }
  return [...found].slice(0, MAX_TERMS);
}

type Policies = Pick<NetworkState, 'policies'>;

function isOfLabels(term: string): boolean {
  return term.includes('=') && !term.startsWith('network=');
}

function* selectorsOf(spec: PolicySpec): Iterable<Selector> {
  yield spec.peerSelector ?? {};
  for (const { peers } of allRulesOf(spec)) {
    for (const entry of peers) if (entry !== '*' && entry.peerSelector) yield entry.peerSelector;
  }
}

/** Returns a selector as a term; undefined for one that is none, as one with several values of a label. */
function termOf({ peers, notPeers, matchLabels = {}, matchExpressions = [] }: Selector): string | undefined {
  if (peers !== undefined || (notPeers ?? []).length > 0) return undefined;
  const parts = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  for (const { key, operator, values = [] } of matchExpressions) {
    if (values.length !== 1) return undefined;
    parts.push(`${key}${operator === 'In' ? '=' : '!='}${values[0]}`);
  }
  return parts.length === 0 ? undefined : parts.join(',');
}
