import type { Contents, Part, Rows, WorkspaceHead } from './contents.ts';
import type { CopyMark, MoveNote } from './move-note.ts';

/** A database that is copied. */
export interface CopySource extends Contents {
  /** For people, without secrets. */
  readonly place: string;
  moved(): Promise<MoveNote | undefined>;
  /** Whoever has it open cannot write from here on. @throws StoreError `unavailable` where somebody is at work on it */
  hold(moved: MoveNote): Promise<void>;
  /** Undoes `hold`, or a move that is over. */
  release(): Promise<void>;
  /** No control plane starts on it from here on. */
  retire(moved: MoveNote): Promise<void>;
  close(): Promise<void>;
}

export type TargetState =
  | { readonly is: 'empty' }
  /** Somebody began to copy, and did not end. */
  | { readonly is: 'unfinished'; readonly mark: CopyMark }
  /** Moved away from. */
  | { readonly is: 'retired'; readonly contents: Contents }
  | { readonly is: 'used' };

/** A database that a copy is written to. */
export interface CopyTarget {
  /** For people, without secrets. */
  readonly place: string;
  /** Returns the state of the target database. */
  find(): Promise<TargetState>;
  /**
   * Empties it, but for what is put aside in the end: no control plane starts on it until `finish`, and then only one that has
   * the keys, where several can.
   */
  begin(mark: CopyMark, keys: string): Promise<void>;
  /** Writes the head of a workspace; its rows follow. */
  addWorkspace(head: WorkspaceHead): Promise<void>;
  write<P extends Part>(head: WorkspaceHead, part: P, rows: readonly Rows[P][]): Promise<void>;
  /** Reads back the contents that were written. */
  written(): Promise<Contents>;
  /** Control planes can start on it from here on. @returns where what was in its place is now */
  finish(): Promise<string | undefined>;
  close(): Promise<void>;
}
