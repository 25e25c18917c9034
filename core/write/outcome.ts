import type { BeyondRow } from '../authority/excess.ts';
import type { Write } from '../authority/writes.ts';
import type { MeshError } from '../base/errors.ts';
import type { Commit, StoreError } from '../base/ports.ts';

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

/*
 * A write that needs approval ends the whole call, wherever in its operation the write is: code after it relies on a commit
 * that was not made, and helpers between the two know nothing of approvals. So `commitOf` throws, as the one place where a
 * result becomes a stop, and `untilApproval` makes it a value again for those who run the call.
 */
class ApprovalStop extends Error {
  override readonly name = 'ApprovalStop';
  readonly need: ApprovalNeed;

  constructor(need: ApprovalNeed) {
    super(`a person has to approve: ${need.reasons.join('; ')}`);
    this.need = need;
  }
}

/** Returns the commit of a write; ends the operation where there is none. */
export function commitOf(result: WriteResult): Commit {
  switch (result.status) {
    case 'committed':
      return result.commit;
    case 'refused':
      throw result.error;
    case 'needsApproval':
      throw new ApprovalStop(result.need);
    default:
      return result satisfies never;
  }
}

/** The end of work that writes as a caller may. */
export type Outcome<T> =
  | { readonly status: 'done'; readonly answer: T }
  | { readonly status: 'needsApproval'; readonly need: ApprovalNeed };

/** Runs an operation, or a part of one, until it is done or one of its writes needs approval. */
export async function untilApproval<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { status: 'done', answer: await work() };
  } catch (error) {
    if (error instanceof ApprovalStop) return { status: 'needsApproval', need: error.need };
    throw error;
  }
}
