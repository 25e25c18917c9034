import { z } from 'zod';
import { memoize } from '../../base/memoize.ts';
import { NameIndex, nearest } from '../../base/nearest.ts';
import { foldName } from '../../base/record.ts';
import { RESERVED_LABEL_PREFIX } from '../../model/presets.ts';
import type { NetworkState } from '../../state/state.ts';

/** Labels that peers bear, and names that words of an intent may have meant. */
export const vocabularySchema = z.strictObject({
  labels: z.array(
    z.strictObject({ key: z.string(), values: z.array(z.strictObject({ value: z.string(), peers: z.int() })) }),
  ),
  near: z.array(z.strictObject({ word: z.string(), names: z.array(z.string()) })),
});
export type Vocabulary = z.output<typeof vocabularySchema>;

const MAX_KEYS = 12;
const MAX_VALUES = 12;
/** Characters of all labels, for an agent that pays for each. */
const MAX_LABEL_TEXT = 2_000;
/** Words of an intent that are compared with names. */
const MAX_COMPARED = 100;
const MAX_WORD = 64;
const MAX_NEAR_WORDS = 5;
const MAX_NAMES = 3;

/** Returns the labels of a network with the most peers first, and the names near the words of an intent. */
export function vocabularyOf(intent: string, state: Pick<NetworkState, 'peers' | 'networks'>): Vocabulary {
  return { labels: labelsOf(state.peers), near: nearWords(intent, state) };
}

const labelsOf = memoize((peers: NetworkState['peers']): Vocabulary['labels'] => {
  const counts = labelCounts(peers);
  const total = (values: ReadonlyMap<string, number>) => values.values().reduce((sum, count) => sum + count, 0);
  const keys = [...counts].toSorted(([, one], [, other]) => total(other) - total(one)).slice(0, MAX_KEYS);
  let left = MAX_LABEL_TEXT;
  return keys.flatMap(([key, values]) => {
    left -= key.length;
    const shown = [...values]
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, MAX_VALUES)
      .flatMap(([value, count]) => {
        left -= value.length;
        return left < 0 ? [] : [{ value, peers: count }];
      });
    return shown.length > 0 ? [{ key, values: shown }] : [];
  });
});

const labelCounts = memoize((peers: NetworkState['peers']): ReadonlyMap<string, ReadonlyMap<string, number>> => {
  const counts = new Map<string, Map<string, number>>();
  for (const { labels } of peers.values()) {
    for (const [key, value] of Object.entries(labels)) {
      if (key.startsWith(RESERVED_LABEL_PREFIX)) continue;
      const values = counts.get(key) ?? new Map<string, number>();
      counts.set(key, values.set(value, (values.get(value) ?? 0) + 1));
    }
  }
  return counts;
});

interface Names {
  readonly index: NameIndex;
  /** The word of an order for each indexed name. */
  readonly written: ReadonlyMap<string, string>;
}

const namesOf = memoize((peers: NetworkState['peers']): Names => {
  const written = new Map<string, string>();
  for (const [key, values] of labelCounts(peers))
    for (const value of values.keys())
      for (const word of [value, `${key}=${value}`]) written.set(foldName(word), `${key}=${value}`);
  for (const name of peers.keys()) written.set(foldName(name), name);
  return { index: new NameIndex(written.keys()), written };
});

function nearWords(intent: string, { peers, networks }: Pick<NetworkState, 'peers' | 'networks'>): Vocabulary['near'] {
  const { index, written } = namesOf(peers);
  const keys = labelCounts(peers);
  const isKnown = (word: string) => written.has(word) || keys.has(word) || networks.has(word);
  const words = new Set(foldName(intent).split(/[\s,;:()"'`]+/));
  const near: Vocabulary['near'] = [];
  for (const word of [...words].slice(0, MAX_COMPARED)) {
    if (word.length > MAX_WORD || isKnown(word)) continue;
    const names = nearest(word, index, MAX_NAMES).map((name) => written.get(name) ?? name);
    if (names.length > 0) near.push({ word, names });
    if (near.length === MAX_NEAR_WORDS) break;
  }
  return near;
}
