/**
 * State that control planes on one store share beside the records: small, with an expiry, and harmless to lose. A single
 * control plane keeps it in its memory (`memory-cells.ts`).
 */
export interface SharedState {
  /**
   * Returns the cells of one purpose; `space` is one word of letters and dashes. `parse` reads a value that another version may
   * have written; undefined counts as an absent value.
   */
  cells<T>(space: string, parse: (value: unknown) => T | undefined): Cells<T>;
  readonly counts: SharedCounts;
  readonly calls: SharedCalls;
  readonly messages: SharedMessages;
}

/** A value until an instant, ms. Tags are what it is counted under. */
export interface Cell<T> {
  readonly value: T;
  readonly expiresAt: number;
  readonly tags?: readonly string[];
}

export interface Cells<T> {
  read(keys: readonly string[]): Promise<ReadonlyMap<string, Cell<T>>>;
  /** Judged on the newest value, and written only while that still stands: `judge` may be called more than once. @throws StoreError */
  change<R>(key: string, judge: (cell: Cell<T> | undefined) => CellUpdate<T, R>): Promise<R>;
  /** How many there are with each of these tags, and in all. */
  count(tags: readonly string[]): Promise<{ readonly all: number; readonly tagged: readonly number[] }>;
  /** The key of the one with a tag that would end first. */
  firstToEnd(tag: string): Promise<string | undefined>;
}

export interface CellUpdate<T, R> {
  /** Undefined takes it away; the very cell that was judged leaves it as it is. */
  readonly cell: Cell<T> | undefined;
  readonly result: R;
}

export interface SharedCounts {
  /** Adds to the count of each key. @returns what each comes to, of all control planes together. @throws StoreError */
  add(counts: ReadonlyMap<string, number>, expiresAt: number): Promise<ReadonlyMap<string, number>>;
}

/** The caller of a call, with the family whose calls share room. */
export interface CallsOf {
  readonly workspace: string;
  readonly caller: string;
  readonly family: string;
}

/** Texts of calls, of which each family keeps the newest. */
export interface SharedCalls {
  append(calls: readonly (CallsOf & { readonly seq: number; readonly text: string })[]): Promise<void>;
  /** Newest first. */
  newest(of: CallsOf, limit: number): Promise<readonly string[]>;
}

/** Messages from one control plane to all others. A plane that was away for half a minute may miss some. */
export interface SharedMessages {
  /** Posts texts of at most a megabyte each. @throws StoreError */
  post(texts: readonly string[]): Promise<void>;
  /** Returns the texts that others posted, in no order, and each once. @throws StoreError */
  read(): Promise<readonly string[]>;
}
