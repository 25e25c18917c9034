import type { Write } from '../authority/writes.ts';
import type { Caller } from '../base/caller.ts';
import type { CommitContext, Op, ReadSet } from '../base/ports.ts';
import { mergeReadSets } from '../state/read-set.ts';
import type { NetworkServices } from '../state/services.ts';
import type { Need, WriteResult } from './outcome.ts';

/** Fails the commit where a record has another revision. */
export type Check = Extract<Op, { readonly op: 'check' }>;

/** A write on its way through the stages, as it would be committed now. */
export interface Draft {
  readonly workspace: string;
  readonly ops: readonly Op[];
  readonly context: CommitContext;
}

/** The write of a caller, with what its stages have learned of it. */
export interface CallerDraft extends Draft {
  /** The writes with the records as they are. */
  readonly writes: readonly Write[];
  /** The approval that covers it. */
  readonly approved?: Approved | undefined;
  readonly need?: Need | undefined;
  /** Checks that the API token which new credentials are tied to is not changed since it was read. */
  readonly token?: Check | undefined;
  /** Checks that the records by which the caller may write are not changed. */
  readonly held?: readonly Check[];
}

/** Returns the draft for the next stage, or the result that the write ends with. @throws MeshError for a refusal; StoreError */
export type Stage = (draft: CallerDraft, call: WritingCall) => Promise<CallerDraft | WriteResult>;

/** A person's approval, with the ops that its first commit writes besides. */
export interface Approved {
  readonly approval: NonNullable<CommitContext['approval']>;
  /** Workspaces whose people approved it. */
  readonly workspaces: ReadonlySet<string>;
  /** Digest of what the person was shown, see `shownDigest`. */
  readonly shown: string;
  /** The controls of frameworks that the person was told will fail. */
  readonly failsControls: ReadonlySet<string>;
  /**
   * The new state of the workflow, to be committed together with what it allows in that partition, until `taken` says that
   * it was. @throws MeshError `conflict` where it was carried out, or ended, meanwhile
   */
  takeOps(partition: string): Promise<readonly Op[]>;
  taken(partition: string): void;
}

/** The caller for whom a call writes. */
export interface CallWriter {
  readonly caller: Caller;
  /** Present where the call was approved. */
  readonly approved?: Approved | undefined;
  /** Throws once the call may no longer begin to write. */
  readonly requireTimely?: (() => void) | undefined;
}

/** Services of the stages. Their store is that of the control plane, never that of a caller. */
export type WriteServices = Pick<NetworkServices, 'store' | 'states' | 'clock' | 'computed'>;

export interface WritingCall extends CallWriter, WriteServices {
  /** Progress of the call over its commits so far. */
  readonly progress: {
    hasWritten: boolean;
    /** Other writes of a call that ends its own credential, such as a log-out everywhere, are part of the call. */
    hasEnded: boolean;
    /** True once a write was made that a person was shown. */
    hasShown: boolean;
  };
}

/** Adds to what the commit rests on. */
export function restingOn<D extends Draft>(draft: D, judgedOn: ReadSet | undefined): D {
  const readSet = mergeReadSets(draft.context.readSet, judgedOn);
  return readSet ? { ...draft, context: { ...draft.context, readSet } } : draft;
}
