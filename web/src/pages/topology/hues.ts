import { type Group, keyOf } from '../../reach/groups.ts';

/** Degrees of hue: apart enough to be told from each other by most people. The name stands beside each all the same. */
const HUES = [265, 150, 60, 340, 205, 105, 25, 305];

/**
 * Returns the hue of each group by its key: by its name, so that it stays while others come and go, and the next free one
 * where another group has it. What is outside, and peers without the label, have none.
 */
export function huesOf(groups: readonly Pick<Group, 'kind' | 'name'>[]): ReadonlyMap<string, number> {
  const keys = groups.filter(({ kind }) => kind === 'label').map(keyOf);
  const hues = new Map<string, number>();
  let taken = new Set<number>();
  for (const key of keys.toSorted()) {
    if (taken.size === HUES.length) taken = new Set();
    let place = hashOf(key) % HUES.length;
    while (taken.has(place)) place = (place + 1) % HUES.length;
    taken.add(place);
    hues.set(key, HUES[place] ?? 0);
  }
  return hues;
}

/** Returns the colour of a hue, of which rims are seen on the surfaces of both themes. */
export function hueColour(hue: number): string {
  return `oklch(60% 0.14 ${hue})`;
}

function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) hash = (31 * hash + text.charCodeAt(index)) >>> 0;
  return hash;
}
