/** Values of which the least is at hand: taking and adding cost the logarithm of how many there are. */
export class Heap<T> {
  readonly #items: T[] = [];
  readonly #isLess: (a: T, b: T) => boolean;

  constructor(isLess: (a: T, b: T) => boolean) {
    this.#isLess = isLess;
  }

  get size(): number {
    return this.#items.length;
  }

  get least(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!this.#isLess(item, items[above] as T)) break;
      items[at] = items[above] as T;
      at = above;
    }
    items[at] = item;
  }

  takeLeast(): T | undefined {
    const items = this.#items;
    const least = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return least;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && this.#isLess(items[below + 1] as T, items[below] as T)) below += 1;
      if (!this.#isLess(items[below] as T, last)) break;
      items[at] = items[below] as T;
      at = below;
    }
    items[at] = last;
    return least;
  }
}
