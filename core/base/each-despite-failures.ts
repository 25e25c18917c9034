import { StoreError } from './ports.ts';

/**
 * Does the work of each item, one after the other, also where that of one before fails: then the first failure is thrown at
 * the end. Where the store cannot be worked with it is thrown at once; a log that is damaged is that of one workspace.
 */
export async function eachDespiteFailures<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (error instanceof StoreError && error.isOutage && error.code !== 'lost') throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
