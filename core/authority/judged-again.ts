import { StoreError } from '../base/ports.ts';

/** Times that something is judged while others change what it is judged on. */
export const JUDGED_AT_MOST = 3;

/**
 * Judges and writes, and judges again where its basis has changed by the time it is written.
 *
 * @throws StoreError `changed` where it changes each time
 */
export async function judgedAgain<T>(judgeAndWrite: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await judgeAndWrite();
    } catch (error) {
      const isChanged = error instanceof StoreError && error.code === 'changed';
      if (!isChanged || attempt >= JUDGED_AT_MOST) throw error;
    }
  }
}
