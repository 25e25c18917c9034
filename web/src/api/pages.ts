import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { asProblem, type Loaded, useLoaded } from './load.ts';
import type { Problem } from './problem.ts';

interface PageOf<T> {
  readonly items: readonly T[];
  readonly next_cursor?: string;
}

export interface Pages<T, P extends PageOf<T>> extends Loaded<readonly T[]> {
  /** Of the first page: what it answers beside its records. */
  readonly first: P | undefined;
  /** Undefined where there are no more. */
  readonly more: (() => void) | undefined;
}

/** A long list, page by page as somebody asks for more. What `read` reads of signals begins it anew. */
export function usePages<T, P extends PageOf<T>>(
  read: (cursor?: string) => Promise<P>,
  { live = false } = {},
): ReadonlySignal<Pages<T, P>> {
  const later = useSignal<{ readonly of: P | undefined; readonly pages: readonly P[] }>({ of: undefined, pages: [] });
  const problem = useSignal<Problem | undefined>(undefined);
  const isReading = useSignal(false);
  const loaded = useLoaded(() => read(), { live });
  return useComputed(() => {
    const { value: first, ...rest } = loaded.value;
    // Pages after another first page than this one are of another list.
    const pages = later.value.of === first ? later.value.pages : [];
    const cursor = (pages.at(-1) ?? first)?.next_cursor;
    const more = async () => {
      if (isReading.peek()) return;
      isReading.value = true;
      problem.value = undefined;
      try {
        const page = await read(cursor);
        later.value = { of: first, pages: [...pages, page] };
      } catch (error) {
        problem.value = asProblem(error);
      } finally {
        isReading.value = false;
      }
    };
    return {
      ...rest,
      problem: rest.problem ?? problem.value,
      isLoading: rest.isLoading || isReading.value,
      first,
      value: first && [first, ...pages].flatMap(({ items }) => items),
      more: cursor === undefined ? undefined : () => void more(),
    };
  });
}
