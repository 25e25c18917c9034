/** A point of the picture. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Places kept of one workspace; those of the picture shown last are the newest. */
const MOST = 2_000;

/**
 * Where things stood last, kept in this browser. No name is written down, only a digest that tells names apart: whoever uses
 * the browser next learns nothing of the network.
 */
export function readPlaces(workspace: string): Map<string, Place> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey(workspace)) ?? '[]');
    if (!Array.isArray(kept)) return new Map();
    return new Map(kept.flatMap((entry) => (isEntry(entry) ? [[entry[0], { x: entry[1], y: entry[2] }]] : [])));
  } catch {
    return new Map();
  }
}

export function keepPlaces(workspace: string, places: ReadonlyMap<string, Place>): void {
  const kept = [...places].slice(-MOST).map(([key, { x, y }]) => [key, x, y]);
  try {
    localStorage.setItem(storageKey(workspace), JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing places everything anew each time.
  }
}

export function forgetPlaces(workspace: string): void {
  localStorage.removeItem(storageKey(workspace));
}

/** Of 53 bits (cyrb53): for telling names apart, not for keeping secrets. */
export function digestOf(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return (4_294_967_296 * (2_097_151 & low) + (high >>> 0)).toString(36);
}

function storageKey(workspace: string): string {
  return `mesh.topology.${workspace}`;
}

function isEntry(entry: unknown): entry is [string, number, number] {
  if (!Array.isArray(entry) || entry.length !== 3) return false;
  return typeof entry[0] === 'string' && Number.isFinite(entry[1]) && Number.isFinite(entry[2]);
}
