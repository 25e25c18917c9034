import type { NetworkState } from './state.ts';
import { namesOf, termTest } from './terms.ts';

/** Groups of one answer; the smaller ones beyond it are one group. */
export const MAX_LABEL_GROUPS = 200;
/** Peers of one group that stand alone. */
export const MAX_ALONE = 200;
/** Keys told of. */
const MAX_KEYS = 100;
/** A key with more values is not chosen unasked: each would be a group. */
const FEW_VALUES = 50;

/**
 * The property that the peers of a group share: a label, the lack of its key, or being in the rest; a single peer is a group
 * too.
 */
export type PeerGroupKind = 'label' | 'unlabelled' | 'rest' | 'peer';

export interface PeerGroup {
  readonly kind: PeerGroupKind;
  /** Value of the label, or name of the peer; empty for the others. */
  readonly name: string;
  readonly peers: readonly string[];
}

export interface LabelKey {
  readonly key: string;
  readonly values: number;
  /** Peers that have it. */
  readonly peers: number;
}

export interface LabelGroups {
  /** Null where no peer has a label: then each stands alone. */
  readonly by: string | null;
  /** Keys with the most peers first. */
  readonly keys: readonly LabelKey[];
  readonly groups: readonly PeerGroup[];
  /** Labels whose peers are in the group of kind `rest`. */
  readonly omitted: number;
}

export interface Grouping {
  /** Label key; without it the one that most peers have, with few values. */
  readonly by?: string | undefined;
  /** Value whose peers stand alone, up to {@link MAX_ALONE}; empty for those without the key. */
  readonly expand?: string | undefined;
  /** Only peers with these labels: `env=prod,role!=db`. */
  readonly label?: string | undefined;
}

/** The ready peers of a network by a label key, the largest group first. Every peer is in one group. */
export function labelGroups({ peers }: Pick<NetworkState, 'peers'>, { by, expand, label }: Grouping): LabelGroups {
  const ready = namesOf('*', { peers });
  const holds = label === undefined ? undefined : termTest(label, peers);
  const names = holds
    ? ready.filter((name) => {
        const peer = peers.get(name);
        return peer !== undefined && holds(peer);
      })
    : ready;
  const labelsOf = (name: string) => peers.get(name)?.labels ?? {};
  const keys = keysOf(names, labelsOf);
  const key = by ?? chosenKey(keys);
  const byValue = Map.groupBy(names, (name) => (key === null ? undefined : ownValue(labelsOf(name), key)));
  const sorted = [...byValue].sort(([a = '', as], [b = '', bs]) => bs.length - as.length || (a < b ? -1 : 1));
  const [shown, left] = [sorted.slice(0, MAX_LABEL_GROUPS), sorted.slice(MAX_LABEL_GROUPS)];
  const opened = key === null ? '' : expand;
  const groups = shown.flatMap(([value, members]): PeerGroup[] => {
    const group = { kind: value === undefined ? ('unlabelled' as const) : ('label' as const), name: value ?? '' };
    if (opened === undefined || opened !== (value ?? '')) return [{ ...group, peers: members }];
    const [alone, together] = [members.slice(0, MAX_ALONE), members.slice(MAX_ALONE)];
    return [
      ...alone.map((name): PeerGroup => ({ kind: 'peer', name, peers: [name] })),
      ...(together.length > 0 ? [{ ...group, peers: together }] : []),
    ];
  });
  const rest = left.flatMap(([, members]) => members);
  return {
    by: key,
    keys: keys.slice(0, MAX_KEYS),
    groups: [...groups, ...(rest.length > 0 ? [{ kind: 'rest' as const, name: '', peers: rest }] : [])],
    omitted: left.length,
  };
}

function ownValue(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function keysOf(names: readonly string[], labelsOf: (name: string) => Readonly<Record<string, string>>): LabelKey[] {
  const found = new Map<string, { peers: number; readonly values: Set<string> }>();
  for (const name of names) {
    for (const [key, value] of Object.entries(labelsOf(name))) {
      const entry = found.get(key) ?? { peers: 0, values: new Set<string>() };
      found.set(key, entry);
      entry.peers += 1;
      entry.values.add(value);
    }
  }
  return [...found]
    .map(([key, { peers, values }]) => ({ key, values: values.size, peers }))
    .sort((a, b) => b.peers - a.peers || (a.key < b.key ? -1 : 1));
}

function chosenKey(keys: readonly LabelKey[]): string | null {
  const telling = keys.find(({ values }) => values > 1 && values <= FEW_VALUES);
  return (telling ?? keys[0])?.key ?? null;
}
