import type { Selector } from '../../model/policy.ts';
import { refused } from './refused.ts';

type Expression = NonNullable<Selector['matchExpressions']>[number];

/** Returns the selector of the peers that two others both match; undefined where no labels could ever match both. */
export function both(a: Selector, b: Selector): Selector | undefined {
  const left = new Set([...(a.notPeers ?? []), ...(b.notPeers ?? [])]);
  const listed = a.peers && b.peers ? a.peers.filter((id) => b.peers?.includes(id)) : (a.peers ?? b.peers);
  const peers = listed?.filter((id) => !left.has(id));
  const notPeers = peers ? [] : [...left];
  const expressions = [...(a.matchExpressions ?? []), ...(b.matchExpressions ?? [])];
  const matchLabels: Record<string, string> = { ...a.matchLabels };
  for (const [key, value] of Object.entries(b.matchLabels ?? {})) {
    if (Object.hasOwn(matchLabels, key) && matchLabels[key] !== value) return undefined;
    matchLabels[key] = value;
  }
  const joined: Selector = {
    ...(peers && { peers }),
    ...(notPeers.length > 0 && { notPeers }),
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(expressions.length > 0 && { matchExpressions: distinct(expressions) }),
  };
  return canMatch(joined) ? joined : undefined;
}

/** Returns selectors that together match exactly the peers that one does not. */
export function complement({ peers, notPeers, matchLabels = {}, matchExpressions = [] }: Selector): Selector[] {
  const conditions = [
    ...Object.entries(matchLabels).map(([key, value]): Expression => ({ key, operator: 'In', values: [value] })),
    ...matchExpressions,
  ];
  return [
    ...(peers ? [peers.length === 0 ? {} : { notPeers: [...peers] }] : []),
    ...(notPeers && notPeers.length > 0 ? [{ peers: [...notPeers] }] : []),
    ...conditions.map((condition): Selector => ({ matchExpressions: [inverse(condition)] })),
  ];
}

/** Selectors into which one may be divided: each exception with several labels divides again. */
const MAX_PIECES = 100;

/**
 * Returns selectors of the peers that are matched by one and by none of the others.
 *
 * @throws MeshError `invalid_input` for more than {@link MAX_PIECES}
 */
export function minus(of: Selector, others: readonly Selector[]): Selector[] {
  let pieces: readonly Selector[] = [of];
  for (const other of others) {
    pieces = distinct(
      pieces.flatMap((piece) => {
        if (!both(piece, other)) return [piece];
        return complement(other).flatMap((part) => both(piece, part) ?? []);
      }),
    );
    if (pieces.length > MAX_PIECES)
      throw refused('These exceptions divide the peers into too many kinds: leave out fewer, or by single labels.');
  }
  return [...pieces];
}

function inverse({ key, operator, values = [] }: Expression): Expression {
  switch (operator) {
    case 'In':
      return { key, operator: 'NotIn', values };
    case 'NotIn':
      return { key, operator: 'In', values };
    case 'Exists':
      return { key, operator: 'DoesNotExist' };
    case 'DoesNotExist':
      return { key, operator: 'Exists' };
    default:
      return operator satisfies never;
  }
}

/** Returns false where no peer could match, whatever its labels are. */
function canMatch({ peers, matchLabels = {}, matchExpressions = [] }: Selector): boolean {
  if (peers?.length === 0) return false;
  const keys = new Set(matchExpressions.map(({ key }) => key));
  return [...keys].every((key) => {
    const own = Object.hasOwn(matchLabels, key) ? [matchLabels[key] ?? ''] : undefined;
    const all = matchExpressions.filter((one) => one.key === key);
    const isRefused = (value: string) =>
      all.some(({ operator, values = [] }) => {
        if (operator === 'DoesNotExist') return true;
        return operator === 'In' ? !values.includes(value) : operator === 'NotIn' && values.includes(value);
      });
    const wanted = own ?? all.find(({ operator }) => operator === 'In')?.values;
    if (wanted) return wanted.some((value) => !isRefused(value));
    const operators = new Set(all.map(({ operator }) => operator));
    return !(operators.has('Exists') && operators.has('DoesNotExist'));
  });
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((one) => [JSON.stringify(one), one])).values()];
}
