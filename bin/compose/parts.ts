import { setTimeout as after } from 'node:timers/promises';
import type { Log } from '../../core/base/ports.ts';

/** A part that has started. */
interface Part {
  stop(): void | Promise<void>;
}

/** The parts that have started, in their order. They stop in reverse, so that each finds there what it needs. */
export class Parts {
  readonly #log: Pick<Log, 'error'>;
  readonly #patienceMs: number | undefined;
  readonly #started: { readonly name: string; readonly stop: Part['stop'] }[] = [];
  #stopping: Promise<void> | undefined;

  /** @param patienceMs a part that does not stop by then is left behind */
  constructor(log: Pick<Log, 'error'>, patienceMs?: number) {
    this.#log = log;
    this.#patienceMs = patienceMs;
  }

  /** Takes in a part that has just started. */
  use<T extends Part>(name: string, part: T): T {
    this.onStop(name, () => part.stop());
    return part;
  }

  /** Takes in a step of the end alone. */
  onStop(name: string, stop: Part['stop']): void {
    this.#started.push({ name, stop });
  }

  /** Stops every part, also after one that fails. Idempotent. @throws the first failure */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  /** Stops what had started before a start that failed, whose error is the one to report. */
  async abandon(): Promise<void> {
    await this.stop().catch(() => undefined);
  }

  async #stopAll(): Promise<void> {
    const failures: unknown[] = [];
    for (const { name, stop } of this.#started.toReversed()) {
      try {
        const stopped = stop();
        await (this.#patienceMs === undefined
          ? stopped
          : Promise.race([stopped, after(this.#patienceMs, undefined, { ref: false })]));
      } catch (err) {
        this.#log.error({ err, part: name }, 'a part did not stop cleanly');
        failures.push(err);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
