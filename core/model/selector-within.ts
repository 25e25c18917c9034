import { lookUpById } from './find.ts';
import type { Selector } from './policy.ts';
import type { PeerRecord } from './resources.ts';
import { selects } from './selector.ts';
import { sameValue } from './value.ts';

type Peers = ReadonlyMap<string, PeerRecord>;

/**
 * Returns true if `outer` matches every peer that `inner` can match. False may be too strict; true is never too lax. For peers
 * that `inner` lists, their present labels count: a person who changes these sees what stays open to the peers.
 */
export function selectorWithin(inner: Selector, outer: Selector, peers: Peers): boolean {
  if (sameValue(inner, outer)) return true;
  if (inner.peers?.every((id) => isHeld(id, outer, peers))) return true;
  if (outer.peers !== undefined) return false;
  const isLeftOut = (id: string) => inner.notPeers?.includes(id) || (inner.peers && !inner.peers.includes(id));
  if (!(outer.notPeers ?? []).every(isLeftOut)) return false;
  const labels = Object.entries(outer.matchLabels ?? {});
  if (!labels.every(([key, value]) => isImplied(inner, { key, operator: 'In', values: [value] }))) return false;
  return (outer.matchExpressions ?? []).every((expression) => isImplied(inner, expression));
}

/** Whoever is gone is meant by nobody's selector: an id is never used again. */
function isHeld(id: string, outer: Selector, peers: Peers): boolean {
  const peer = lookUpById(peers, id);
  return peer === undefined || selects(outer, peer);
}

type Expression = NonNullable<Selector['matchExpressions']>[number];

function isImplied({ matchLabels = {}, matchExpressions = [] }: Selector, outer: Expression): boolean {
  const own = Object.hasOwn(matchLabels, outer.key) ? matchLabels[outer.key] : undefined;
  const known: readonly Expression[] = [
    ...matchExpressions.filter(({ key }) => key === outer.key),
    ...(own === undefined ? [] : [{ key: outer.key, operator: 'In' as const, values: [own] }]),
  ];
  return known.some((inner) => implies(inner, outer));
}

/** Returns true where one requirement of a label allows no more than another one of the same label. */
function implies(inner: Expression, outer: Expression): boolean {
  const [held, allowed] = [inner.values ?? [], new Set(outer.values ?? [])];
  switch (outer.operator) {
    case 'In':
      return inner.operator === 'In' && held.every((value) => allowed.has(value));
    case 'NotIn':
      if (inner.operator === 'In') return held.every((value) => !allowed.has(value));
      return inner.operator === 'DoesNotExist' || (inner.operator === 'NotIn' && isSubset(allowed, held));
    case 'Exists':
      return inner.operator === 'In' || inner.operator === 'Exists';
    case 'DoesNotExist':
      return inner.operator === 'DoesNotExist';
    default:
      return outer.operator satisfies never;
  }
}

function isSubset(values: ReadonlySet<string>, of: readonly string[]): boolean {
  return values.isSubsetOf(new Set(of));
}
