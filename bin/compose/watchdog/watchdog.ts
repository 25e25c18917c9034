import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../../core/base/ports.ts';
import { SharedLoopState } from './shared-loop-state.ts';
import { TICK_MS } from './stall-count.ts';

const ENTRY = new URL(`./watchdog-thread${path.extname(import.meta.url)}`, import.meta.url);
/** Signals that ask a process to stop. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Property of `globalThis` by which the watchdog, in the inspector, finds {@link Rescue}. */
export const RESCUE = 'meshWatchdogRescue';

/** Functions that the watchdog calls on the serving thread while that stands still. */
export interface Rescue {
  /** Gives the stop signals back to the kernel: until the thread turns again, one ends the process at once. */
  letSignalsEnd(): void;
}

export interface Watchdog {
  /** From now on a stall counts; before, a start, a migration or a restore may take as long as it needs. */
  serving(): void;
  /** From now on the stop itself must move. */
  stopping(): void;
  /** Stalls of 5 s and more since the start. */
  stalls(): number;
  end(): Promise<void>;
}

export interface WatchdogData {
  readonly turns: SharedArrayBuffer;
  readonly tickMs: number;
  readonly isSupervised: boolean;
}

/**
 * Starts a thread that watches this one. A stall of 5 s is logged with the stack of what runs; the process ends after 20 s
 * where a supervisor starts it again, and in any case after 5 s where it was asked to stop (docs/operating.md#a-stall).
 *
 * @param tickMs how often the watchdog looks; the limits are a fixed number of looks
 */
export function startWatchdog(
  log: Pick<Log, 'warn'>,
  { isSupervised, tickMs = TICK_MS }: { readonly isSupervised: boolean; readonly tickMs?: number },
): Watchdog {
  const turns = new SharedLoopState();
  const workerData: WatchdogData = { turns: turns.buffer, tickMs, isSupervised };
  let worker: Worker | undefined;
  const restoreSignals = exposeRescue();
  const turning = setInterval(() => {
    turns.turn();
    restoreSignals();
  }, tickMs);
  turning.unref();
  return {
    serving() {
      worker ??= startThread(workerData, log);
      turns.enter('serving');
    },
    stopping: () => turns.enter('stopping'),
    stalls: () => turns.stalls(),
    async end() {
      clearInterval(turning);
      await worker?.terminate();
    },
  };
}

function startThread(workerData: WatchdogData, log: Pick<Log, 'warn'>): Worker {
  const worker = new Worker(ENTRY, { workerData, name: 'watchdog' });
  worker.on('error', (err) => log.warn({ err }, 'the watchdog failed: a stall is not noticed any more'));
  worker.unref();
  return worker;
}

/** @returns what takes the stop signals back, once the thread turns */
function exposeRescue(): () => void {
  let taken: (() => void)[] = [];
  const rescue: Rescue = {
    letSignalsEnd() {
      taken = STOP_SIGNALS.flatMap((signal) =>
        process.rawListeners(signal).map((listener) => {
          process.off(signal, listener as NodeJS.SignalsListener);
          return () => process.on(signal, listener as NodeJS.SignalsListener);
        }),
      );
    },
  };
  Object.assign(globalThis, { [RESCUE]: rescue });
  return () => {
    for (const takeBack of taken.splice(0)) takeBack();
  };
}
