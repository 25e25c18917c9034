import type { BeyondRow } from './excess.ts';
import type { Write } from './writes.ts';

type Asked = 'workspaces' | 'reasons' | 'rows' | 'writes' | 'failsControls' | 'changesDuty';

/** A batch was not written, because a person has to see it first. */
export class NeedsPerson extends Error {
  override readonly name = 'NeedsPerson';
  /** The workspaces whose people decide, each for itself. */
  readonly workspaces: readonly string[];
  /** Why, as sentences without a subject: `deletes the peer web-1`. */
  readonly reasons: readonly string[];
  readonly rows: readonly BeyondRow[];
  readonly writes: readonly Write[];
  /** Controls of frameworks that would fail and did not: empty where the workspace demands nobody for them. */
  readonly failsControls: readonly string[];
  /** Tells whether it changes when a second person is needed, or what the workspace is judged by under `secondPerson`. */
  readonly changesDuty: boolean;

  constructor(asked: Pick<NeedsPerson, Asked>) {
    super(`a person has to approve: ${asked.reasons.join('; ')}`);
    this.workspaces = asked.workspaces;
    this.reasons = asked.reasons;
    this.rows = asked.rows;
    this.writes = asked.writes;
    this.failsControls = asked.failsControls;
    this.changesDuty = asked.changesDuty;
  }
}
