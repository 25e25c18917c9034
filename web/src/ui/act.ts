import { useSignal } from '@preact/signals';
import { asProblem } from '../api/load.ts';
import type { Problem } from '../api/problem.ts';

/** Runs one act at a time, and holds what it was refused with. */
export function useAct() {
  const isActing = useSignal(false);
  const problem = useSignal<Problem | undefined>(undefined);
  async function act(work: () => Promise<unknown>): Promise<boolean> {
    if (isActing.value) return false;
    isActing.value = true;
    problem.value = undefined;
    try {
      await work();
      return true;
    } catch (error) {
      problem.value = asProblem(error);
      return false;
    } finally {
      isActing.value = false;
    }
  }
  return { isActing, problem, act };
}
