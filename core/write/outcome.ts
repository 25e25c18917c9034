import type { Commit } from '../base/ports.ts';
import type { ApprovalNeed, WriteResult } from './draft.ts';

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
