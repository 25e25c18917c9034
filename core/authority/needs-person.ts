import type { BeyondRow } from './excess.ts';
import type { Write } from './writes.ts';

/** A batch was not written, because a person has to see it first. */
export class NeedsPerson extends Error {
  override readonly name = 'NeedsPerson';
  /** The workspace whose people decide. */
  readonly workspace: string;
  /** Why, as sentences without a subject: `deletes the peer web-1`. */
  readonly reasons: readonly string[];
  readonly rows: readonly BeyondRow[];
  readonly writes: readonly Write[];

  constructor(asked: Pick<NeedsPerson, 'workspace' | 'reasons' | 'rows' | 'writes'>) {
    super(`a person has to approve: ${asked.reasons.join('; ')}`);
    this.workspace = asked.workspace;
    this.reasons = asked.reasons;
    this.rows = asked.rows;
    this.writes = asked.writes;
  }
}
