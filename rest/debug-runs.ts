import { z } from 'zod';
import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import type { Clock } from '../core/base/ports.ts';
import { createQuotas, type QuotaKey, quotaKeysOf } from '../core/base/quotas.ts';
import { SCOPES, type Scope } from '../core/base/scope.ts';
import type { Cells, SharedState } from '../core/base/shared.ts';
import type { RunIds } from './debug-ids.ts';

/** An event of a stream, without its id, which is the run and the position in it. */
export interface DebugEvent {
  readonly event: 'step' | 'tool' | 'token' | 'finding' | 'error' | 'done';
  readonly data: unknown;
}

/** The part of the answer of `find_cause` that a stream uses. */
export interface CauseAnswer {
  readonly reading: string;
  readonly summary: string;
  readonly finding_count: number;
  readonly findings: readonly unknown[];
  /** The call that answers the question. */
  readonly next?: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> };
  readonly next_cursor?: string;
}

/** A question, the events that answer it so far, and the callers that may read them. */
export interface DebugRun {
  readonly id: string;
  readonly workspace: string;
  readonly owner: string;
  /** The scopes of the requester: a caller with fewer would be told less, and may read none of it. */
  readonly scopes: ReadonlySet<Scope>;
  /** Ids of the owner and, of an agent, of its ancestors: whoever makes room among these. */
  readonly line: readonly string[];
  readonly asked: Readonly<Record<string, unknown>>;
  /** The events so far; only ever appended to, so that an event keeps its position. */
  readonly events: DebugEvent[];
  isOver: boolean;
  /** The computed answer, once there is one. */
  answer?: CauseAnswer;
  /** How often a model has been asked for words. */
  narrations: number;
  /** When its reader was last there. */
  seenAt: number;
  /** Ends the work for the reader that has it now; undefined where nobody reads. */
  stop?: (() => void) | undefined;
}

type Owner = Pick<Caller, 'id' | 'line'>;
type RunReader = Owner & Pick<Caller, 'scopesIn'>;

/** How long a stream can be resumed after its reader has gone. */
const RESUME_MS = 5 * 60_000;
/** In this process: an answer is some 200 KB at most. Each workspace, principal and sub-agent has a share of them. */
const MAX_RUNS = 200;

/** A run as another control plane takes it up. */
const storedRun = z.object({
  workspace: z.string(),
  owner: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  line: z.array(z.string()),
  asked: z.record(z.string(), z.unknown()),
  events: z.array(z.custom<DebugEvent>()),
  isOver: z.boolean(),
  answer: z.custom<CauseAnswer>().optional(),
  narrations: z.int(),
});
type StoredRun = z.infer<typeof storedRun>;

/** Far more than a run comes to: who says to have seen more, of what nobody kept, has made it up. */
const MAX_EVENTS = 5_000;
/** In the place of words that a model had said and nobody kept: their reader has them. */
const UNKEPT: DebugEvent = { event: 'step', data: { step: 'words', text: 'Words that were told before.' } };

interface LocalRun {
  readonly run: DebugRun;
  readonly release: () => void;
}

/** Streams that can be resumed. Who needs room makes it among what is its own, and a stream that is read is never ended. */
export class DebugRuns {
  readonly #clock: Clock;
  readonly #shares = createQuotas('debug answers kept for resumption', MAX_RUNS);
  readonly #runs = new Map<string, LocalRun>();
  /** Where several control planes keep runs together, so that each can go on with one. */
  readonly #cells: Cells<StoredRun> | undefined;
  readonly #ids: RunIds;

  constructor(clock: Clock, ids: RunIds, shared?: Pick<SharedState, 'cells'>) {
    this.#clock = clock;
    this.#ids = ids;
    this.#cells = shared?.cells('debug-run', (value) => storedRun.safeParse(value).data);
  }

  get size(): number {
    return this.#runs.size;
  }

  /** @throws MeshError `rate_limited` where all of the owner's share is being read */
  begin(workspace: string, owner: RunReader, asked: DebugRun['asked'], known?: string): DebugRun {
    const release = this.#roomFor(workspace, owner);
    const run: DebugRun = {
      id: known ?? this.#ids.make({ workspace, owner: owner.id, asked }),
      workspace,
      owner: owner.id,
      scopes: owner.scopesIn(workspace),
      line: owner.line ?? [owner.id],
      asked,
      events: [],
      isOver: false,
      narrations: 0,
      seenAt: this.#clock.now(),
    };
    this.#runs.set(run.id, { run, release });
    return run;
  }

  /**
   * The run of an event that a reader has seen, and how many of its events that are. A run that nobody keeps since a restart
   * begins anew: its question is about the past, so its events are the same, which `mark` shows.
   *
   * @throws MeshError `expired` for one that is no longer kept, is another's, or was told to a credential that holds more
   */
  async resume(
    lastEventId: string,
    workspace: string,
    reader: RunReader,
    asked: DebugRun['asked'],
  ): Promise<{ readonly run: DebugRun; readonly seen: number; readonly mark?: string }> {
    const [, id = '', seen, mark] = /^([\w-]{16})\.(\d{1,6})(?:\.([\w-]{8}))?$/.exec(lastEventId) ?? [];
    const run = await this.#newest(id, Number(seen), workspace, reader);
    const begun = run ? undefined : this.#ids.beginOf(id, { workspace, owner: reader.id, asked });
    if (begun !== undefined && mark !== undefined && begun + RESUME_MS >= this.#clock.now()) {
      return { run: this.begin(workspace, reader, asked, id), seen: Number(seen), mark };
    }
    if (!run || this.#isExpired(run) || !mayRead(run, workspace, reader)) {
      throw notResumable();
    }
    return { run, seen: Number(seen) };
  }

  /** Lets another control plane go on with it from here: before what a reader is told, and could not be told alike again. */
  async keep({
    id,
    scopes,
    workspace,
    owner,
    line,
    asked,
    events,
    isOver,
    answer,
    narrations,
  }: DebugRun): Promise<void> {
    const value = { workspace, owner, line: [...line], asked, events, isOver, narrations, scopes: [...scopes] };
    const cell = { value: { ...value, ...(answer && { answer }) }, expiresAt: this.#clock.now() + RESUME_MS };
    // Without it, it can be resumed here alone.
    await this.#cells?.change(id, () => ({ cell, result: undefined })).catch(() => undefined);
  }

  /** As it is here, or elsewhere if it went on there. */
  async #newest(id: string, seen: number, workspace: string, reader: RunReader): Promise<DebugRun | undefined> {
    const here = this.#runs.get(id)?.run;
    const kept = id === '' ? undefined : (await this.#cells?.read([id]))?.get(id)?.value;
    if (!kept || (here && here.events.length >= kept.events.length)) return here;
    if (!mayRead({ ...kept, scopes: new Set(kept.scopes) }, workspace, reader)) return undefined;
    const { answer, ...rest } = kept;
    const lost = Math.max(0, seen - kept.events.length);
    if (lost > 0 && seen > MAX_EVENTS) return undefined;
    const run: DebugRun = {
      ...rest,
      id,
      scopes: new Set(kept.scopes),
      events: [...kept.events, ...Array<DebugEvent>(lost).fill(UNKEPT)],
      ...(answer && { answer }),
      seenAt: this.#clock.now(),
    };
    if (here) this.#drop(here);
    this.#runs.set(id, { run, release: this.#roomFor(workspace, reader) });
    return run;
  }

  /** A reader has the run from now on, and whoever had it before no longer. */
  read(run: DebugRun, stop: () => void): () => void {
    run.stop?.();
    run.stop = stop;
    return () => {
      run.seenAt = this.#clock.now();
      if (run.stop === stop) run.stop = undefined;
    };
  }

  #isExpired({ stop, seenAt }: DebugRun): boolean {
    return !stop && seenAt + RESUME_MS < this.#clock.now();
  }

  #roomFor(workspace: string, owner: Owner): () => void {
    for (const { run } of this.#runs.values()) if (this.#isExpired(run)) this.#drop(run);
    const keys = quotaKeysOf(owner, [workspace]);
    for (;;) {
      const acquired = this.#shares.acquire(keys);
      if (acquired.ok) return acquired.release;
      const oldest = this.#oldestOf(owner, acquired.key);
      if (!oldest) return this.#shares.take(keys);
      this.#drop(oldest);
    }
  }

  /**
   * Returns the run to drop among those without a reader, of the owner and of the agents below it, that count for that quota:
   * finished runs first, then the one whose reader left longest ago.
   */
  #oldestOf({ id }: Owner, key: QuotaKey | undefined): DebugRun | undefined {
    const unread = [...this.#runs.values()].flatMap(({ run }) => (run.stop || !run.line.includes(id) ? [] : [run]));
    const counted = unread.filter((run) => {
      switch (key?.kind) {
        case 'workspace':
          return run.workspace === key.id;
        case 'agent':
          return run.owner === key.id;
        default:
          return true;
      }
    });
    return counted.sort((a, b) => Number(b.isOver) - Number(a.isOver) || a.seenAt - b.seenAt)[0];
  }

  #drop({ id }: DebugRun): void {
    this.#runs.get(id)?.release();
    this.#runs.delete(id);
  }
}

export function notResumable(): MeshError {
  return new MeshError('expired', 'This stream can no longer be resumed: ask again without Last-Event-ID.');
}

/** Another credential of the same owner may hold less than the one that asked. */
function mayRead(
  run: Pick<DebugRun, 'workspace' | 'owner' | 'scopes'>,
  workspace: string,
  { id, scopesIn }: RunReader,
): boolean {
  return run.workspace === workspace && run.owner === id && run.scopes.isSubsetOf(scopesIn(workspace));
}
