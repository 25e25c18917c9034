/** Slips of one word. */
const MAX_DISTANCE = 2;

/** Names that differ from a word by a slip or two, nearest first. */
export function nearest(word: string, candidates: Iterable<string>, count = 3): string[] {
  const found: { readonly name: string; readonly distance: number }[] = [];
  for (const name of new Set(candidates)) {
    const limit = Math.min(MAX_DISTANCE, Math.floor(word.length / 3));
    const distance = distanceOf(word, name.toLowerCase(), limit);
    if (distance <= limit) found.push({ name, distance });
  }
  return found
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

/** Letters added, left out, changed or swapped with the next; more than the limit when it is reached. */
function distanceOf(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((old[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (old[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (older[j - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least > limit) return limit + 1;
    [older, old] = [old, row];
  }
  return old[b.length] ?? limit + 1;
}
