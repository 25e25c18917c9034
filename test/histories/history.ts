/**
 * What clients of a workspace did and were answered, and what its log says in the end. Instants are of one monotonic clock, ms.
 * A value is never written twice to one key, so that what is read tells who wrote it.
 */

/** A record as a revision left it; `value` is absent where that deleted it. */
export interface Version {
  readonly key: string;
  readonly revision: number;
  readonly value?: number;
}

interface Asked {
  /** In words, for whoever reads of a violation. */
  readonly by: string;
  readonly began: number;
  /** Infinity where no answer came. */
  readonly ended: number;
}

/** `ifRevision`: 0 = only where there is no such record; absent = whatever there is. */
export interface Write extends Asked {
  readonly op: 'write';
  readonly key: string;
  /** Absent: a deletion. */
  readonly value?: number;
  readonly ifRevision?: number;
  /**
   * Done, at a revision where the answer tells it, as that of a deletion does not; refused, because the record was not as
   * `ifRevision` says, or was not there; nothing, because the control plane stood still; or not known.
   */
  readonly outcome: { readonly done: number } | 'done' | 'refused' | 'nothing' | 'unknown';
}

/** One answer with all records of some keys; those that it does not list are not there. */
export interface Read extends Asked {
  readonly op: 'read';
  readonly keys: readonly string[];
  readonly versions: readonly Version[];
}

export type Operation = Write | Read;
