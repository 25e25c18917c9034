import { randomBytes } from 'node:crypto';
import { MeshError } from '../core/base/errors.ts';
import type { Clock } from '../core/base/ports.ts';

/** One event of a stream, without its id: that is the run and its place in it. */
export interface DebugEvent {
  readonly event: 'step' | 'tool' | 'token' | 'finding' | 'error' | 'done';
  readonly data: unknown;
}

/** What `find_cause` answers, as far as it is told here. */
export interface CauseAnswer {
  readonly reading: string;
  readonly summary: string;
  readonly finding_count: number;
  readonly findings: readonly unknown[];
  /** The call that answers the question. */
  readonly next?: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };
  readonly next_cursor?: string;
}

/** One question, the events that answer it so far, and who may read them. */
export interface DebugRun {
  readonly id: string;
  readonly workspace: string;
  readonly owner: string;
  readonly asked: Readonly<Record<string, unknown>>;
  /** What has been told; only ever added to, so that an event keeps its place. */
  readonly events: DebugEvent[];
  isOver: boolean;
  /** What was computed, once it is. */
  answer?: CauseAnswer;
  /** How often a model has been asked for words. */
  narrations: number;
  /** When its reader was last there. */
  seenAt: number;
  /** Ends the work for the reader that has it now. */
  stop: () => void;
}

/** How long a stream can be resumed after its reader has gone. */
const KEPT_MS = 5 * 60_000;
/** Of one workspace: an answer is some 200 KB at most. */
const MAX_RUNS = 20;
const MAX_RUNS_IN_ALL = 200;

/** Streams that can be resumed. The oldest leave first: of their workspace, then of all. */
export class DebugRuns {
  readonly #clock: Clock;
  readonly #runs = new Map<string, DebugRun>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#runs.size;
  }

  begin(workspace: string, owner: string, asked: DebugRun['asked']): DebugRun {
    const now = this.#clock.now();
    for (const [id, run] of this.#runs) if (run.seenAt + KEPT_MS < now) this.#drop(id);
    const own = [...this.#runs.values()].filter((run) => run.workspace === workspace);
    const [oldest] = own.length >= MAX_RUNS ? own : this.#runs.size >= MAX_RUNS_IN_ALL ? this.#runs.values() : [];
    if (oldest) this.#drop(oldest.id);
    const id = randomBytes(12).toString('base64url');
    const run: DebugRun = {
      id,
      workspace,
      owner,
      asked,
      events: [],
      isOver: false,
      narrations: 0,
      seenAt: now,
      stop: () => undefined,
    };
    this.#runs.set(id, run);
    return run;
  }

  /**
   * The run of an event that a reader has seen, and how many of its events that are.
   *
   * @throws MeshError `expired` for one that is no longer kept, or is another's
   */
  resume(lastEventId: string, workspace: string, owner: string): { readonly run: DebugRun; readonly seen: number } {
    const [, id = '', seen] = /^([\w-]{16})\.(\d{1,6})$/.exec(lastEventId) ?? [];
    const run = this.#runs.get(id);
    const isKept =
      run && run.seenAt + KEPT_MS >= this.#clock.now() && run.workspace === workspace && run.owner === owner;
    if (!isKept) {
      const detail = 'This stream can no longer be resumed: ask again without Last-Event-ID.';
      throw new MeshError('expired', detail);
    }
    return { run, seen: Number(seen) };
  }

  touch(run: DebugRun): void {
    run.seenAt = this.#clock.now();
  }

  #drop(id: string): void {
    this.#runs.get(id)?.stop();
    this.#runs.delete(id);
  }
}
