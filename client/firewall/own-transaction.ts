import { randomBytes } from 'node:crypto';

/** Transactions that were asked for and not told of: more are of a time in which nobody watched. */
const MOST_AWAITED = 64;
const MARK = /^delete table inet ([^/ ]+)\/(begin|end)\/([0-9a-f]+)\/(\d+)(?: |$)/;

export interface Mark {
  readonly isBegin: boolean;
  /** The number of the load that is in force once the transaction is over. */
  readonly load: number;
}

/**
 * Marks transactions as this node's own for those who watch nftables: a table that each makes and removes, before everything
 * else and after it. The kernel tells of each removal of a transaction without a gap, in this order, of these two too:
 *
 *     delete table inet mesh_mesh0/begin/6f0c81d2b7a94e53/7
 *     delete table inet mesh_mesh0
 *     delete table inet mesh_mesh0/end/6f0c81d2b7a94e53/7
 *
 * Everybody sees the word once its transaction is over, and by then it has been told: a mark counts once, so that nobody can
 * hide what they remove behind it. A process id would not do: the kernel tells that of its first namespace, which a container
 * does not know.
 */
export class OwnTransactions {
  readonly #table: string;
  /** Transactions that no event confirmed yet, by their words. */
  readonly #pending = new Map<string, { readonly load: number; isBegun: boolean }>();
  constructor(table: string) {
    this.#table = table;
  }

  /** @param load the number of the load that is in force once it is over */
  marked(load: number, text: string): string {
    const word = randomBytes(8).toString('hex');
    this.#pending.set(word, { load, isBegun: false });
    for (const oldest of this.#pending.keys()) {
      if (this.#pending.size <= MOST_AWAITED) break;
      this.#pending.delete(oldest);
    }
    // No interface has a slash in its name, so no other node's table does.
    const mark = (at: 'begin' | 'end') => {
      const name = `${this.#table}/${at}/${word}/${load}`;
      return `add table inet ${name}\ndelete table inet ${name}\n`;
    };
    return `${mark('begin')}${text}${mark('end')}`;
  }

  /** A line of what nft tells. @returns undefined for what is no mark, was told already or is not of this process */
  told(line: string): Mark | undefined {
    const [, of, at, word = '', number] = MARK.exec(line) ?? [];
    const awaited = this.#pending.get(word);
    if (of !== this.#table || !awaited || awaited.load !== Number(number)) return undefined;
    const isBegin = at === 'begin';
    if (isBegin && awaited.isBegun) return undefined;
    if (isBegin) awaited.isBegun = true;
    else this.#pending.delete(word);
    return { isBegin, load: awaited.load };
  }

  /** Gives up events that have not come. */
  missed(): void {
    this.#pending.clear();
  }
}
