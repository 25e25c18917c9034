import type { BeyondRow } from './excess.ts';
import type { Write } from './writes.ts';

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

/** Thrown by the store where a person has to approve a batch first, so that its operation ends there: nothing was written. */
export class NeedsApproval extends Error {
  override readonly name = 'NeedsApproval';
  readonly need: ApprovalNeed;

  constructor(need: ApprovalNeed) {
    super(`a person has to approve: ${need.reasons.join('; ')}`);
    this.need = need;
  }
}
