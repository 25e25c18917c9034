import type { Selector } from './policy.ts';

/** What selectors look at. A peer of a model without ids has its name in place of one. */
export interface Selectable {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether a stored selector means a peer. NotIn matches where the key is absent. */
export function selects(selector: Selector, { uid, labels }: Selectable): boolean {
  const { peers, notPeers } = selector;
  if (peers !== undefined && !peers.includes(uid)) return false;
  return !notPeers?.includes(uid) && matchesLabels(selector, labels);
}

/** Whether what a selector says of labels holds. */
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

/** Whether a selector means every peer there is or will be. */
export function selectsEveryone({ peers, notPeers, matchLabels, matchExpressions }: Selector = {}): boolean {
  return (
    peers === undefined && !notPeers?.length && Object.keys(matchLabels ?? {}).length === 0 && !matchExpressions?.length
  );
}
