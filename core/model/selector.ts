import type { Selector } from './policy.ts';

/** The fields of a peer that selectors match. A peer of a model without ids has its name in place of one. */
export interface Selectable {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns true if a stored selector matches a peer. NotIn matches where the key is absent. */
export function selects(selector: Selector, { uid, labels }: Selectable): boolean {
  const { peers, notPeers } = selector;
  if (peers !== undefined && !peers.includes(uid)) return false;
  return !notPeers?.includes(uid) && matchesLabels(selector, labels);
}

/** Returns true if labels meet the label conditions of a selector. */
function matchesLabels({ matchLabels, matchExpressions }: Selector, labels: Readonly<Record<string, string>>): boolean {
  const labelAt = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  const isEach = Object.entries(matchLabels ?? {}).every(([key, value]) => labelAt(key) === value);
  if (!isEach) return false;
  return (matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = labelAt(key);
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return operator satisfies never;
    }
  });
}

/** Returns true if a selector matches every peer, present and future. */
export function selectsEveryone({ peers, notPeers, matchLabels, matchExpressions }: Selector = {}): boolean {
  return (
    peers === undefined && !notPeers?.length && Object.keys(matchLabels ?? {}).length === 0 && !matchExpressions?.length
  );
}
