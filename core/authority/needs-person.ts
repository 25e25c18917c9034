import type { BeyondRow } from './excess.ts';
import type { Write } from './writes.ts';

/** A batch was not written, because a person has to see it first. */
export class NeedsPerson extends Error {
  override readonly name = 'NeedsPerson';
  /** The workspaces whose people decide, each for itself. */
  readonly workspaces: readonly string[];
  /** Why, as sentences without a subject: `deletes the peer web-1`. */
  readonly reasons: readonly string[];
  readonly rows: readonly BeyondRow[];
  readonly writes: readonly Write[];

  constructor(asked: Pick<NeedsPerson, 'workspaces' | 'reasons' | 'rows' | 'writes'>) {
    super(`a person has to approve: ${asked.reasons.join('; ')}`);
    this.workspaces = asked.workspaces;
    this.reasons = asked.reasons;
    this.rows = asked.rows;
    this.writes = asked.writes;
  }
}
