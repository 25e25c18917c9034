import type { Commit } from '../base/ports.ts';
import type { TriggerType } from './snapshot-record.ts';
import { type Cause, causeOf, type PresenceDifference, presenceTrigger, withPresence } from './trigger.ts';

/** Quiet time after the last change before a snapshot is stored, and the longest that changes wait. */
export const TRAILING_MS = 1_000;
export const CAP_MS = 5_000;
/** A burst is cut before it passes this, so that the history between two snapshots stays short; one commit is never split. */
export const CUT_BYTES = 8_192;

/** A snapshot to store: of the state that a commit left behind, at that commit's instant. */
export interface DueCapture {
  readonly workspace: string;
  readonly trigger: TriggerType;
  readonly triggeredBy: string;
  readonly revision: number;
  readonly capturedAt: number;
}

interface PendingCapture extends Omit<DueCapture, 'trigger'> {
  readonly cause: Cause;
  readonly presence: PresenceDifference;
  readonly deadline: number;
  /** When it is due if nothing else comes. */
  readonly due: number;
  readonly bytes: number;
}

/**
 * Gathers commits into snapshots, at most one waiting in each workspace. A change of policy never shares a snapshot with
 * one of presence, nor a reviewed change with a direct one, so that a difference of two snapshots has one cause.
 * Comings and goings share one: a device that blinks makes no row for each blink, and none if it is back as it was.
 */
export class Debouncer {
  readonly #pending = new Map<string, PendingCapture>();

  /** @returns the captures that this commit completes, to be stored in this order. */
  handle(
    commit: Pick<Commit, 'workspace' | 'revision' | 'at' | 'actor' | 'approval' | 'changes'>,
    now: number,
  ): DueCapture[] {
    const cause = causeOf(commit);
    if (cause === undefined) return [];
    const { workspace, revision, actor, at, changes } = commit;
    const added = changes.reduce((sum, change) => sum + bytesOf(change), 0);
    const before = this.#pending.get(workspace);
    const joins = before && before.cause === cause && before.bytes + added <= CUT_BYTES;
    const deadline = joins ? before.deadline : now + CAP_MS;
    this.#pending.delete(workspace);
    this.#pending.set(workspace, {
      workspace,
      cause,
      triggeredBy: actor,
      revision,
      capturedAt: at,
      presence: withPresence(joins ? before.presence : new Map(), changes),
      deadline,
      due: Math.min(now + TRAILING_MS, deadline),
      bytes: added + (joins ? before.bytes : 0),
    });
    return before && !joins ? captureOf(before) : [];
  }

  /** Lets go of what waits in a workspace: another process takes it from the log. */
  forget(workspace: string): void {
    this.#pending.delete(workspace);
  }

  /** Takes out the captures that are due. */
  due(now: number): DueCapture[] {
    const ready = [...this.#pending.values()].filter(({ due }) => due <= now);
    for (const { workspace } of ready) this.#pending.delete(workspace);
    return ready.flatMap(captureOf);
  }

  /** Takes out everything that waits. */
  drain(): DueCapture[] {
    return this.due(Number.POSITIVE_INFINITY);
  }

  /** When the next capture is due, ms; undefined when nothing waits. */
  get deadline(): number | undefined {
    let first: number | undefined;
    for (const { due } of this.#pending.values()) if (first === undefined || due < first) first = due;
    return first;
  }
}

/** None where a burst of comings and goings left everyone as before. */
function captureOf({ workspace, cause, presence, triggeredBy, revision, capturedAt }: PendingCapture): DueCapture[] {
  const trigger = cause === 'presence' ? presenceTrigger(presence) : cause;
  return trigger ? [{ workspace, trigger, triggeredBy, revision, capturedAt }] : [];
}

/** Returns the most bytes of history that a change takes: rows are stored compressed, a deletion as a marker. */
function bytesOf({ type, record }: Commit['changes'][number]): number {
  return type === 'deleted' ? 64 : JSON.stringify([record.labels, record.spec, record.status]).length;
}
