import type { Clock } from './ports.ts';
import type { Cell, Cells } from './shared.ts';

/** Cells in this process's memory, of which a bounded number is kept: the one that was left alone for longest makes room. */
export function memoryCells<T>(clock: Clock, maxCells: number): Cells<T> {
  // A Map keeps insertion order.
  const kept = new Map<string, Cell<T>>();

  function find(key: string): Cell<T> | undefined {
    const cell = kept.get(key);
    if (cell && clock.now() < cell.expiresAt) return cell;
    kept.delete(key);
    return undefined;
  }

  function living(tag?: string): [string, Cell<T>][] {
    const isMeant = ({ tags = [] }: Cell<T>) => tag === undefined || tags.includes(tag);
    return [...kept].filter(([key, cell]) => find(key) && isMeant(cell));
  }

  return {
    async read(keys) {
      return new Map(
        keys.flatMap((key) => {
          const cell = find(key);
          return cell ? [[key, cell] as const] : [];
        }),
      );
    },
    async change(key, judge) {
      const { cell, result } = judge(find(key));
      kept.delete(key);
      if (!cell) return result;
      if (kept.size >= maxCells) for (const oldest of kept.keys()) if (kept.delete(oldest)) break;
      kept.set(key, cell);
      return result;
    },
    async count(tags) {
      return { all: living().length, tagged: tags.map((tag) => living(tag).length) };
    },
    async firstToEnd(tag) {
      return living(tag).sort(([, a], [, b]) => a.expiresAt - b.expiresAt)[0]?.[0];
    },
  };
}
