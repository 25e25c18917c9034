import { Session } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';

/** Counts what JavaScript does, without a clock. */
export interface WorkCounter {
  /**
   * How often functions, branches and loop bodies ran in some work. A built-in function counts as nothing beside the block
   * that calls it, however much it does inside.
   */
  of(work: () => unknown): Promise<number>;
  [Symbol.dispose](): void;
}

const OPTIMIZERS = ['opt', 'maglev'];

/**
 * By the block coverage of V8, which counts in the whole process: nothing else may be under way. Optimized code counts what it
 * inlines no longer, so nothing is optimized meanwhile.
 */
export function countWork(): WorkCounter {
  for (const flag of OPTIMIZERS) setFlagsFromString(`--no-${flag}`);
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  /** Since it was asked last. */
  const take = () => {
    let count = 0;
    session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error) throw error;
      for (const { functions } of result) {
        for (const { ranges } of functions) for (const range of ranges) count += range.count;
      }
    });
    return count;
  };
  return {
    async of(work) {
      take();
      await work();
      return take();
    },
    [Symbol.dispose]() {
      session.post('Profiler.stopPreciseCoverage');
      session.disconnect();
      for (const flag of OPTIMIZERS) setFlagsFromString(`--${flag}`);
    },
  };
}
