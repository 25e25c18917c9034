import type { BeyondRow } from '../authority/excess.ts';
import type { Write } from '../authority/writes.ts';
import type { Caller } from '../base/caller.ts';
import type { MeshError } from '../base/errors.ts';
import type { Basis, Commit, CommitContext, Op, StoreError } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { together } from '../state/basis.ts';
import type { NetworkServices } from '../state/services.ts';

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
  /** The writes that make a credential, give it another secret, or let it live longer. */
  readonly granted: readonly Write[];
  /** The API token of the caller, where the write makes a credential. */
  readonly token?: StoredRecord<'Token'> | undefined;
  readonly need?: Need | undefined;
  /** The approval that covers the write. */
  readonly approved?: Approved | undefined;
  /** Checks that the record by which the caller may write is not changed. */
  readonly held?: (Op & { readonly op: 'check' }) | undefined;
}

/** The approval that a batch of writes needs. */
export interface ApprovalNeed {
  /** The workspaces whose people decide, each for itself. */
  readonly workspaces: readonly string[];
  /** The reasons as sentences without a subject: `deletes the peer web-1`. */
  readonly reasons: readonly string[];
  readonly rows: readonly BeyondRow[];
  readonly writes: readonly Write[];
  /** Controls of frameworks that would fail and did not: empty where the workspace demands nobody for them. */
  readonly failsControls: readonly string[];
  /** Tells whether it changes when a second person is needed, or what the workspace is judged by under `secondPerson`. */
  readonly changesDuty: boolean;
}

export interface Need extends ApprovalNeed {
  /** True where it is about who decides, and not about the authority of an agent. */
  readonly isDecision: boolean;
}

/** The end of a write. Nothing was written unless it is `committed`. */
export type WriteResult =
  | { readonly status: 'committed'; readonly commit: Commit }
  | { readonly status: 'needsApproval'; readonly need: ApprovalNeed }
  | { readonly status: 'refused'; readonly error: MeshError | StoreError };

/** Returns the draft for the next stage, or the result that the write ends with. @throws MeshError for a refusal; StoreError */
export type Stage = (
  draft: CallerDraft,
  call: WritingCall,
) => CallerDraft | WriteResult | Promise<CallerDraft | WriteResult>;

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

/** The caller of a call, and what the call comes with. */
export interface CallWriter {
  readonly caller: Caller;
  /** Present where the call was approved. */
  readonly approved?: Approved | undefined;
  /** Throws once the call may no longer begin to write; later writes of the same call complete it. */
  readonly requireTimely?: (() => void) | undefined;
}

/** Services of the stages. Their store is that of the control plane, never that of a caller. */
export type WriteServices = Pick<NetworkServices, 'store' | 'states' | 'clock' | 'computed'>;

/** One call that writes. */
export interface WritingCall extends CallWriter, WriteServices {
  /** Changes with each commit of the call. */
  readonly progress: {
    hasWritten: boolean;
    /** Other writes of a call that ends its own credential, such as a log-out everywhere, are part of the call. */
    hasEnded: boolean;
    /** True once a write was made that a person was shown. */
    hasShown: boolean;
  };
}

/** Adds to what the commit rests on. */
export function restingOn<D extends Draft>(draft: D, judgedOn: Basis | undefined): D {
  const basis = together(draft.context.basis, judgedOn);
  return basis ? { ...draft, context: { ...draft.context, basis } } : draft;
}

/** Returns the approval that covers a write. What another call decided does not show whether this one was carried out. */
export function approvalOf({ context }: Draft, { approved }: WritingCall): Approved | undefined {
  return context.decided === 'earlier' ? undefined : approved;
}
