import { type Clock, StoreError } from '../base/ports.ts';
import { judgements } from '../base/serialise.ts';

/**
 * Judges and writes, and judges again where its basis has changed by the time it is written.
 *
 * @throws StoreError `changed` where it changes each time
 */
export async function judgedAgain<T>(judgeAndWrite: () => Promise<T>, clock: Clock): Promise<T> {
  const mayJudge = judgements(clock);
  for (;;) {
    try {
      return await judgeAndWrite();
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'changed' || !mayJudge()) throw error;
    }
  }
}
