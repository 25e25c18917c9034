import { computed, effect, type ReadonlySignal, signal, useSignalEffect } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { Problem } from './problem.ts';
import { session } from './session.ts';

/** The state of a read: being read, failed, or answered; what was answered stays when a later read of it fails. */
export interface Loaded<T> {
  readonly value: T | undefined;
  /** When the value was answered, ms; undefined where there is none. */
  readonly answeredAt: number | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface LoadOptions {
  /** Asks again after a change of the network. */
  readonly live?: boolean;
  /** Asks again each so many ms while the page is in sight: for what no event tells of. */
  readonly everyMs?: number;
}

type Read<T> = (abort: AbortSignal) => Promise<T>;

/** Counts changes of the network: what was read before is read again. */
export const changed = signal(0);

/** Counts how often the control plane was reached again: what failed, and what still hangs, is asked again. */
export const reconnected = signal(0);

/**
 * What `read` answers, asked again when a signal that it read changes, when the network does, in a new session, and on
 * `reload`. While it is asked again the last answer stays.
 */
export function useLoaded<T>(read: Read<T>, options: LoadOptions = {}): ReadonlySignal<Loaded<T>> {
  const reader = useRef(read);
  reader.current = read;
  const { loaded, effects } = useMemo(() => loaderOf<T>((abort) => reader.current(abort), options), []);
  for (const run of effects) useSignalEffect(run);
  return loaded;
}

/** The same outside of components, for as long as the page is open. */
export function followLoaded<T>(read: Read<T>, options: LoadOptions = {}): ReadonlySignal<Loaded<T>> {
  const { loaded, effects } = loaderOf(read, options);
  for (const run of effects) effect(run);
  return loaded;
}

function loaderOf<T>(read: Read<T>, { live = true, everyMs }: LoadOptions) {
  const answered = signal<{ readonly value: T; readonly at: number } | undefined>(undefined);
  const problem = signal<Problem | undefined>(undefined);
  const isLoading = signal(true);
  const again = signal(0);
  const reload = () => {
    again.value = again.peek() + 1;
  };
  let cause: unknown;
  const ask = () => {
    const before = cause;
    cause = [again.value, live && changed.value, session.value].join(' ');
    // Asked for another reason, it is another question: an answer to the one before says nothing about it.
    const isOther = before === cause;
    if (!session.value) return undefined;
    const abort = new AbortController();
    isLoading.value = true;
    read(abort.signal)
      .then((value) => {
        if (abort.signal.aborted) return;
        answered.value = { value, at: Date.now() };
        problem.value = undefined;
      })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        if (isOther) answered.value = undefined;
        problem.value = asProblem(error);
      })
      .finally(() => {
        if (!abort.signal.aborted) isLoading.value = false;
      });
    return () => abort.abort();
  };
  let reached = reconnected.peek();
  const askAfterReconnect = () => {
    if (reconnected.value === reached) return;
    reached = reconnected.value;
    if (problem.peek() || isLoading.peek()) reload();
  };
  const askInTurn = () => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, everyMs);
    return () => clearInterval(timer);
  };
  const loaded = computed(
    (): Loaded<T> => ({
      value: answered.value?.value,
      answeredAt: answered.value?.at,
      problem: problem.value,
      isLoading: isLoading.value,
      reload,
    }),
  );
  return { loaded, effects: [ask, askAfterReconnect, askInTurn] };
}

/** A thrown value that is no refusal of the API is a fault of this page: shown, and told to the console. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // biome-ignore lint/suspicious/noConsole: the console is where a fault of a page is looked for.
  console.error(error);
  return new Problem({ detail: String(error), code: 'page' });
}
