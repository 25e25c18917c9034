import { type ReadonlySignal, signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Problem } from './problem.ts';
import { session } from './session.ts';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** Counts changes of the network: what was read before is read again. */
export const changed = signal(0);

/**
 * What `read` answers, asked again when a signal that it read changes, when the network does, in a new session, and on
 * `reload`. While it is asked again the last answer stays.
 *
 * @param live whether a change of the network asks again
 */
export function useLoaded<T>(
  read: (abort: AbortSignal) => Promise<T>,
  { live = true } = {},
): ReadonlySignal<Loaded<T>> {
  const value = useSignal<T | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const isLoading = useSignal(true);
  const again = useSignal(0);
  const reader = useRef(read);
  reader.current = read;
  useSignalEffect(() => {
    again.value;
    if (live) changed.value;
    if (!session.value) return undefined;
    const abort = new AbortController();
    isLoading.value = true;
    reader
      .current(abort.signal)
      .then((answer) => {
        if (abort.signal.aborted) return;
        value.value = answer;
        problem.value = undefined;
      })
      .catch((error: unknown) => {
        if (!abort.signal.aborted) problem.value = asProblem(error);
      })
      .finally(() => {
        if (!abort.signal.aborted) isLoading.value = false;
      });
    return () => abort.abort();
  });
  return useComputed(() => ({
    value: value.value,
    problem: problem.value,
    isLoading: isLoading.value,
    reload: () => {
      again.value += 1;
    },
  }));
}

/** A thrown value that is no refusal of the API is a fault of this page: shown, and told to the console. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // biome-ignore lint/suspicious/noConsole: the console is where a fault of a page is looked for.
  console.error(error);
  return new Problem({ detail: String(error), code: 'page' });
}
