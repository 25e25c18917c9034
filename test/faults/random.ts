export type Random = ReturnType<typeof randomOf>;

/** The same draws for the same seed (mulberry32), so that a run can be repeated. */
export function randomOf(seed: number) {
  let state = seed >>> 0;
  /** From 0 to below 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    next,
    below,
    chance: (probability: number) => next() < probability,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new RangeError('There is nothing to pick from.');
      return list[below(list.length)] as T;
    },
    /** Draws of its own: what runs beside it draws the same whatever comes first. */
    fork: () => randomOf(below(2 ** 32)),
  };
}
