/** The amounts of shared resources that a connection holds. */
export interface Amounts {
  connections: number;
  subscriptions: number;
  /** Bytes, by `subscriptionBytes`. */
  subscriptionBytes: number;
  /** Bytes of unfinished messages. */
  partialBytes: number;
}

export type Kind = keyof Amounts;
export type Share = Readonly<Amounts>;

const KINDS: readonly Kind[] = ['connections', 'subscriptions', 'subscriptionBytes', 'partialBytes'];

export const UNBOUNDED: Share = {
  connections: Number.POSITIVE_INFINITY,
  subscriptions: Number.POSITIVE_INFINITY,
  subscriptionBytes: Number.POSITIVE_INFINITY,
  partialBytes: Number.POSITIVE_INFINITY,
};

/**
 * How much of each kind is held and may be. What one takes counts in all above it too: a connection in its node or
 * address, that in the strangers', those in the whole.
 */
export class Budget {
  readonly held: Amounts = { connections: 0, subscriptions: 0, subscriptionBytes: 0, partialBytes: 0 };
  readonly #most: Share;
  #above: Budget | undefined;

  constructor(most: Share, above?: Budget) {
    this.#most = most;
    this.#above = above;
  }

  /** True if the amount fits here and in all budgets above. */
  fits(kind: Kind, amount: number): boolean {
    if (!this.hasRoom(kind, amount)) return false;
    return this.#above === undefined || this.#above.fits(kind, amount);
  }

  /** The same of itself alone. */
  hasRoom(kind: Kind, amount: number): boolean {
    return this.held[kind] + amount <= this.#most[kind];
  }

  /** False, and nothing taken, when it or one above it has no room. */
  take(kind: Kind, amount: number): boolean {
    if (!this.fits(kind, amount)) return false;
    this.#add(kind, amount);
    return true;
  }

  give(kind: Kind, amount: number): void {
    this.#add(kind, -amount);
  }

  /** Hangs it, with all it holds, below another one, which must not refuse what is held already. */
  moveTo(above: Budget): void {
    for (const kind of KINDS) {
      this.#above?.give(kind, this.held[kind]);
      above.#add(kind, this.held[kind]);
    }
    this.#above = above;
  }

  #add(kind: Kind, amount: number): void {
    this.held[kind] += amount;
    if (this.#above !== undefined) this.#above.#add(kind, amount);
  }
}
