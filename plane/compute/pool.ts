import { principalOf } from '../../core/base/caller.ts';
import { CallerDisconnected } from '../../core/base/caller-disconnected.ts';
import { MeshError } from '../../core/base/errors.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import type { Compute, JsonText, RemoteCompute } from '../../core/compute/compute.ts';
import { FairQueue, type ReachedLimit } from '../../core/compute/fair-queue.ts';
import type { ComputeLimits } from './limits.ts';
import type { AnyCall, Writes } from './messages.ts';
import { type Thread, ThreadDied } from './thread.ts';

export interface PoolOptions {
  readonly startThread: () => Thread;
  readonly limits: ComputeLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** The store as the caller may write to it. */
interface CallerServices {
  readonly store: Writes;
}

export interface ComputePool extends Compute<CallerServices>, RemoteCompute {
  /** Calls that compute and that wait; those refused for want of room, and threads that died, since the start. */
  readonly counts: {
    readonly running: number;
    readonly waiting: number;
    readonly refused: number;
    readonly died: number;
  };
  /** Refuses what waits and what runs, ends every thread and takes nothing more. Idempotent. */
  stop(): Promise<void>;
}

/** A call that waits for its turn, or has it. */
interface QueuedCall {
  hasTurn: boolean;
  readonly begin: () => void;
}

/** Calls that take turns with each other alone. */
interface CallQueue {
  readonly queue: FairQueue<QueuedCall>;
  /** Longest time that one waits, ms. */
  readonly waitMs: number;
  readonly noRoom: Readonly<Record<ReachedLimit, string>>;
  running: number;
  readonly runningOf: Map<string, number>;
}

/**
 * Runs calls on a few threads, one at a time on each. Who waits takes turns by workspace and caller; where there are
 * several threads, one workspace never has all of them. A thread that a call outlived or broke is ended and replaced.
 *
 * A judgement holds the writes of a workspace up, so it goes before every question. There is one thread more than
 * questions may have, and than judgements may have: neither keeps the other from all of them.
 */
export function buildComputePool({ startThread, limits, clock, log }: PoolOptions): ComputePool {
  const judgements = callQueueOf(limits, limits.judgementWaitMs, NO_ROOM_TO_JUDGE);
  const questions = callQueueOf(limits, limits.waitMs, NO_ROOM);
  const idle = new Map<Thread, NodeJS.Timeout>();
  const calls = new Map<Promise<JsonText>, (error: MeshError) => void>();
  const ending = new Set<Promise<void>>();
  const mostOfOne = Math.max(1, limits.threads - 1);
  const counts = { refused: 0, died: 0 };
  let isStopped = false;

  function answerTo(call: AnyCall, writes: Writes, signal: AbortSignal): Promise<JsonText> {
    if (isStopped) return Promise.reject(stopping());
    const over = Promise.withResolvers<never>();
    over.promise.catch(() => undefined);
    const answer = attempt(call, writes, signal, over).finally(() => calls.delete(answer));
    calls.set(answer, over.reject);
    return answer;
  }

  async function attempt(
    call: AnyCall,
    writes: Writes,
    signal: AbortSignal,
    over: PromiseWithResolvers<never>,
  ): Promise<JsonText> {
    const share = { tenant: call.workspace, principal: requesterOf(call) };
    const lane = 'computation' in call && !call.isQuestion ? judgements : questions;
    const turn = Promise.withResolvers<void>();
    const place: QueuedCall = { hasTurn: false, begin: turn.resolve };
    const full = lane.queue.push(share, place);
    if (full) throw noRoom(lane, full);
    const leave = () => over.reject(new CallerDisconnected());
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    let timer = setTimeout(() => over.reject(noRoom(lane, 'everyone')), lane.waitMs);
    try {
      nextTurns();
      await Promise.race([over.promise, turn.promise]);
      clearTimeout(timer);
      timer = setTimeout(() => over.reject(tooLong()), limits.runMs);
      return await compute(call, writes, over.promise);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      if (place.hasTurn) endTurn(lane, share.tenant);
      else lane.queue.remove(share, place);
    }
  }

  function nextTurns(): void {
    while (judgements.running + questions.running <= limits.threads) {
      if (!beginNext(judgements) && !beginNext(questions)) return;
    }
  }

  /** @returns whether there was one. */
  function beginNext(lane: CallQueue): boolean {
    if (lane.running >= limits.threads) return false;
    const next = lane.queue.shift((tenant) => (lane.runningOf.get(tenant) ?? 0) < mostOfOne);
    if (!next) return false;
    const { tenant, item } = next;
    lane.running += 1;
    lane.runningOf.set(tenant, (lane.runningOf.get(tenant) ?? 0) + 1);
    item.hasTurn = true;
    item.begin();
    return true;
  }

  function endTurn(lane: CallQueue, tenant: string): void {
    lane.running -= 1;
    const left = (lane.runningOf.get(tenant) ?? 1) - 1;
    if (left > 0) lane.runningOf.set(tenant, left);
    else lane.runningOf.delete(tenant);
    nextTurns();
  }

  async function compute(call: AnyCall, writes: Writes, over: Promise<never>): Promise<JsonText> {
    const thread = idleThread() ?? startThread();
    try {
      return await Promise.race([over, thread.run(call, clock.now(), writes)]);
    } catch (error) {
      if (!(error instanceof ThreadDied)) throw error;
      counts.died += 1;
      log.error(
        {
          operation: 'computation' in call ? call.computation : call.operation,
          requestId: call.requestId,
          why: error.message,
        },
        'a computing thread died',
      );
      throw died(error);
    } finally {
      if (thread.isFree && !isStopped) rest(thread);
      else end(thread);
    }
  }

  /** The one used last, which has most of what it needs in memory. */
  function idleThread(): Thread | undefined {
    for (const thread of [...idle.keys()].reverse()) {
      clearTimeout(idle.get(thread));
      idle.delete(thread);
      if (thread.isFree) return thread;
      end(thread);
    }
    return undefined;
  }

  function rest(thread: Thread): void {
    const timer = setTimeout(() => {
      idle.delete(thread);
      end(thread);
    }, limits.idleMs);
    idle.set(thread, timer.unref());
  }

  function end(thread: Thread): void {
    const ended = thread.end().finally(() => ending.delete(ended));
    ending.add(ended);
  }

  function noRoom(lane: CallQueue, whose: ReachedLimit): MeshError {
    counts.refused += 1;
    const { retryAfterSeconds } = limits;
    return new MeshError('unavailable', `${lane.noRoom[whose]} Try again in ${retryAfterSeconds} s.`, {
      retryAfterSeconds,
    });
  }

  function tooLong(): MeshError {
    const seconds = limits.runMs / 1_000;
    return new MeshError('unavailable', `The answer takes more than ${seconds} s to compute: ask for less at once.`);
  }

  return {
    get counts() {
      const running = judgements.running + questions.running;
      return { ...counts, running, waiting: judgements.queue.size + questions.queue.size };
    },
    run: (call, { store }, signal) => answerTo(call, store, signal),
    // Whoever asked may have gone; what depends on it is to be finished all the same.
    compute: (call) => answerTo(call, NO_WRITES, new AbortController().signal),
    async stop() {
      isStopped = true;
      const under = [...calls];
      for (const [, reject] of under) reject(stopping());
      await Promise.allSettled(under.map(([answer]) => answer));
      for (const [thread, timer] of idle) {
        clearTimeout(timer);
        end(thread);
      }
      idle.clear();
      await Promise.allSettled(ending);
    },
  };
}

function callQueueOf({ waiting }: ComputeLimits, waitMs: number, noRoom: CallQueue['noRoom']): CallQueue {
  return { queue: new FairQueue(waiting), waitMs, noRoom, running: 0, runningOf: new Map() };
}

function requesterOf(call: AnyCall): string {
  if ('computation' in call) return call.principal;
  return call.caller ? principalOf(call.caller) : '';
}

const refuseToWrite = () => Promise.reject(new TypeError('A computation writes nothing.'));
const NO_WRITES: Writes = { commit: refuseToWrite, record: refuseToWrite };

const NO_ROOM: Readonly<Record<ReachedLimit, string>> = {
  everyone: 'Too many questions about networks are being answered.',
  tenant: 'Too many questions about networks of this workspace are being answered.',
  principal: 'Too many of your questions are being answered: ask fewer at once.',
};

const NO_ROOM_TO_JUDGE: Readonly<Record<ReachedLimit, string>> = {
  everyone: 'Too many writes are being judged, and this one was not.',
  tenant: 'Too many writes of this workspace are being judged, and this one was not.',
  principal: 'Too many of your writes are being judged, and this one was not: send fewer at once.',
};

function died({ outOfMemory }: ThreadDied): MeshError {
  const what = outOfMemory ? 'The answer takes more memory than one call may use: ask for less at once.' : ENDED;
  return new MeshError('unavailable', what);
}

const ENDED = 'The computation ended before it had an answer: try again.';

function stopping(): MeshError {
  return new MeshError('unavailable', 'The control plane is stopping: try again when it is back.');
}
