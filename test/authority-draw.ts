/** Choices of one step, all of them from its seed. */
export interface Draw {
  int(below: number): number;
  chance(probability: number): boolean;
  /** The choice stays the same when items that were not chosen go, so that a failing sequence can be shortened. */
  pick<T>(items: readonly T[], keyOf?: (item: T) => string): T;
}

export function drawFrom(seed: number): Draw {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    return mixed(state);
  };
  const int = (below: number) => next() % below;
  return {
    int,
    chance: (probability) => next() < probability * 2 ** 32,
    pick(items, keyOf = (item) => JSON.stringify(item)) {
      const salt = next();
      const [first] = items
        .map((item) => ({ item, weight: mixed(salt ^ hashOf(keyOf(item))) }))
        .toSorted((a, b) => b.weight - a.weight);
      if (!first) throw new RangeError('There is nothing to pick from.');
      return first.item;
    },
  };
}

/** The finish of MurmurHash3: every bit of the input decides every bit of the answer. */
function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}
