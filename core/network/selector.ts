import type { Selector } from './policy.ts';

/** Whether a selector means a peer with these labels. NotIn matches where the key is absent. */
export function selects(
  { matchLabels, matchExpressions }: Selector,
  labels: Readonly<Record<string, string>>,
): boolean {
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
