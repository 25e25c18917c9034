import type { NamedPeer } from './completions.ts';

/** Labels that the control plane gives itself. */
const OWN_LABELS = 'mesh.internal/';

/** Returns sentences about peers and labels of a network; none where it has fewer than two peers. */
export function examplesOf(peers: readonly NamedPeer[]): readonly string[] {
  const pair = labelPair(peers) ?? peers.slice(0, 2).map(({ name }) => name);
  const [from, to] = pair;
  if (from === undefined || to === undefined) return [];
  const other = peers.find(({ name, labels }) => name !== to && !hasLabel(labels, to));
  return [
    `let ${from} reach ${to} on port 5432 and nobody else`,
    `deny ssh from ${from} to ${to}`,
    ...(other ? [`let ${other.name} reach ${to} for 2 hours`] : []),
  ];
}

/** Returns the two most frequent values of the label that most peers have, among those with several values. */
function labelPair(peers: readonly NamedPeer[]): readonly string[] | undefined {
  const counts = new Map<string, Map<string, number>>();
  for (const { labels } of peers)
    for (const [key, value] of Object.entries(labels)) {
      if (key.startsWith(OWN_LABELS)) continue;
      const values = counts.get(key) ?? new Map<string, number>();
      counts.set(key, values.set(value, (values.get(value) ?? 0) + 1));
    }
  const sizeOf = (values: ReadonlyMap<string, number>) => [...values.values()].reduce((sum, count) => sum + count, 0);
  const [most] = [...counts]
    .filter(([, values]) => values.size > 1)
    .sort(([, one], [, other]) => sizeOf(other) - sizeOf(one));
  if (!most) return undefined;
  const [key, values] = most;
  const frequent = [...values].sort(([, one], [, other]) => other - one);
  return frequent.slice(0, 2).map(([value]) => `${key}=${value}`);
}

function hasLabel(labels: NamedPeer['labels'], label: string): boolean {
  return Object.entries(labels).some(([key, value]) => `${key}=${value}` === label);
}
