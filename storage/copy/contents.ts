import type { AuditTree } from '../../core/base/ports.ts';
import type { Kind } from '../../core/base/record.ts';

/** Where a workspace stands. */
export interface WorkspaceHead {
  readonly name: string;
  /** Entries in its log. */
  readonly size: number;
  readonly revision: number;
  /** The time of the newest entry. */
  readonly at: number;
  /** Which past revisions can still be read: those from here on, and those of `keep`. */
  readonly compacted: number;
  readonly keep: readonly number[];
  /** The peaks of the tree of its log, in hexadecimal, to which the next entry is added. */
  readonly peaks: readonly string[];
}

/** The rows of a workspace; each list has the same order in every store. */
export interface Rows {
  /** By seq. `hashes` are those of the subtrees that end with the entry, by level. */
  readonly log: {
    readonly seq: number;
    readonly at: number;
    /** The revision that the entry made; events make none. */
    readonly commit: number | undefined;
    /** In force from this entry on. */
    readonly revision: number;
    readonly hashes: Uint8Array;
    readonly entry: string;
  };
  /** By kind and folded name. Of a deleted one that history knows there is no body. */
  readonly records: {
    readonly kind: Kind;
    readonly name: string;
    readonly uid: string | undefined;
    readonly revision: number;
    readonly at: number;
    readonly body: string | undefined;
    readonly unique: readonly string[];
  };
  /** By kind, folded name and revision: what a record was from `revision` on, until before `until`. */
  readonly versions: {
    readonly kind: Kind;
    readonly name: string;
    readonly revision: number;
    readonly at: number;
    readonly until: number;
    readonly untilAt: number;
    readonly body: Uint8Array;
  };
  /** By day, counted from the epoch. */
  readonly checkpoints: {
    readonly day: number;
    readonly at: number;
    readonly size: number;
    readonly note: string;
  };
}

export type Part = keyof Rows;
export const PARTS = ['log', 'records', 'versions', 'checkpoints'] as const satisfies readonly Part[];

export type Counts = Readonly<Record<Part | 'unique', number>>;

/**
 * All that a store holds of an installation, and nothing of what is made anew with each start: leases, counters. Rows come
 * one after the other, so that none but a few are in memory.
 */
export interface Contents {
  /** By name. */
  heads(): Promise<readonly WorkspaceHead[]>;
  /** Rows in all, those of no workspace too. */
  counts(): Promise<Counts>;
  rows<P extends Part>(workspace: string, part: P): Iterable<Rows[P]> | AsyncIterable<Rows[P]>;
  tree(workspace: string): Pick<AuditTree, 'size' | 'hashes'>;
}
