import { availableParallelism } from 'node:os';
import type { QueueLimits } from '../../core/compute/fair-queue.ts';

export interface ComputeLimits {
  /** The most threads for questions, and the most for judgments; both together may have one more. */
  readonly threads: number;
  /** Calls that wait for a thread; one may carry 1 MB of input. */
  readonly waiting: QueueLimits;
  /** Longest time that a call computes, the start of a thread included, ms. */
  readonly runMs: number;
  /** Longest time that a call waits for a thread, ms: a client would have given up. */
  readonly waitMs: number;
  /** Longest time that the judgement of a write waits for one, ms: it may hold up all writes of its workspace. */
  readonly judgementWaitMs: number;
  /** A thread that nobody used for so long ends, and gives its memory back, ms. */
  readonly idleMs: number;
  /** When to try again where there is no room, s: some calls are over by then. */
  readonly retryAfterSeconds: number;
}

/** The serving thread keeps one core; more than four threads would hold more memory than they save time. */
const MAX_THREADS = 4;

export const COMPUTE_LIMITS: ComputeLimits = {
  threads: Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1)),
  // An agent asks about the pairs of eight peers at once, and leaves room for others of its workspace.
  waiting: { total: 256, perTenant: 96, perPrincipal: 64, perTenantAgents: 72 },
  runMs: 15_000,
  waitMs: 30_000,
  judgementWaitMs: 2_000,
  idleMs: 30_000,
  retryAfterSeconds: 5,
};

/**
 * The JavaScript heap of one thread, MB: the states and compiled matrices of a few thousand peers, and one longest answer while
 * it is made.
 */
export const THREAD_HEAP_MB = 256;
