import { setTimeout as after } from 'node:timers/promises';
import type { Log } from '../../core/base/ports.ts';

/** A part that has started. */
interface Part {
  stop(): void | Promise<void>;
}

export type Parts = ReturnType<typeof buildParts>;

/**
 * The parts that have started, in their order. They stop in reverse, so that each finds there what it needs.
 *
 * @param patienceMs a part that does not stop by then is left behind
 */
export function buildParts(log: Pick<Log, 'error'>, patienceMs?: number) {
  const started: { readonly name: string; readonly stop: Part['stop'] }[] = [];
  let stopping: Promise<void> | undefined;

  const stopAll = async () => {
    const failures: unknown[] = [];
    for (const { name, stop } of started.toReversed()) {
      try {
        const late = patienceMs === undefined ? [] : [after(patienceMs, undefined, { ref: false })];
        await Promise.race([stop(), ...late]);
      } catch (err) {
        log.error({ err, part: name }, 'a part did not stop cleanly');
        failures.push(err);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  const stop = () => (stopping ??= stopAll());

  return {
    /** Takes in a part that has just started. */
    use<T extends Part>(name: string, part: T): T {
      started.push({ name, stop: () => part.stop() });
      return part;
    },
    /** Takes in a step of the end alone. */
    onStop: (name: string, step: Part['stop']) => void started.push({ name, stop: step }),
    /** Stops every part, also after one that fails. Idempotent. @throws the first failure */
    stop,
    /** Stops what had started before a start that failed, whose error is the one to report. */
    abandon: () => stop().catch(() => undefined),
  };
}
