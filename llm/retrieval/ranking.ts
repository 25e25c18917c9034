/** Scores by item; adding is by the greatest or by the sum, and the order is total, so the same input ranks alike. */
export class Ranking<T> {
  readonly #scores = new Map<T, number>();

  add(item: T, score: number): void {
    this.#scores.set(item, (this.#scores.get(item) ?? 0) + score);
  }

  scoreOf(item: T): number {
    return this.#scores.get(item) ?? 0;
  }

  /** The `limit` best, equal scores in the order of their names. */
  top(limit: number, nameOf: (item: T) => string): T[] {
    const best: { item: T; score: number; name: string }[] = [];
    for (const [item, score] of this.#scores) {
      const last = best[limit - 1];
      if (last && score < last.score) continue;
      const entry = { item, score, name: nameOf(item) };
      if (last && isBefore(last, entry)) continue;
      let at = best.length;
      for (let before = best[at - 1]; before && isBefore(entry, before); before = best[at - 1]) at -= 1;
      best.splice(at, 0, entry);
      if (best.length > limit) best.pop();
    }
    return best.map(({ item }) => item);
  }
}

interface Ranked {
  readonly score: number;
  readonly name: string;
}

function isBefore(a: Ranked, b: Ranked): boolean {
  return a.score > b.score || (a.score === b.score && a.name < b.name);
}
