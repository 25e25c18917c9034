/** The maintenance of a store's file while it is open. */
export interface StoreUpkeep {
  /** Where it is, links followed; undefined of one in memory. */
  readonly file: string | undefined;
  /** Why nothing can be written any more: the file was removed, replaced or cut short. Undefined while it is well. */
  problem(): string | undefined;
  /** Bytes of the file, and of the log of what is not in it yet. */
  bytes(): { readonly file: number; readonly log: number };
  /** Moves what is in the log into the file, as far as no reader needs it there. */
  checkpoint(): void;
  /** Gives free pages back to the file system in small steps between writes, where there are many. @returns how many */
  vacuum(): Promise<number>;
  /**
   * Writes all that the store still knows beside its file, which was removed.
   *
   * @returns the copy, which `meshd restore` takes; undefined where what is left is no whole database
   */
  rescue(): Promise<string | undefined>;
}

/** The upkeep of a store that needs none. */
export const noUpkeep: StoreUpkeep = {
  file: undefined,
  problem: () => undefined,
  bytes: () => ({ file: 0, log: 0 }),
  checkpoint() {},
  vacuum: async () => 0,
  rescue: () => Promise.reject(new TypeError('A store without a file has nothing to rescue.')),
};
