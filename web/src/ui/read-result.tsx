import type { ComponentChildren } from 'preact';
import type { Loaded } from '../api/load.ts';
import { texts } from '../texts/texts.ts';
import './read-result.css';
import { ProblemNotice } from './problem.tsx';

interface ReadResultProps<T> {
  readonly of: Loaded<T>;
  /** What stands in place of "Loading…" while nothing is read yet. */
  readonly loading?: string;
  /** Called with what was read alone: only there is it known that something is empty. */
  readonly children?: (value: T) => ComponentChildren;
}

/**
 * What was read; in its place that it is being read, or why it could not be. What was read before a failure stays, with the
 * time that it is of.
 */
export function ReadResult<T>({ of, loading = texts.common.loading, children }: ReadResultProps<T>) {
  const { value, answeredAt, problem, isLoading, reload } = of;
  const isAnswered = answeredAt !== undefined;
  return (
    <>
      <ProblemNotice problem={problem} again={reload} shownAsOf={answeredAt} />
      {!isAnswered && !problem && isLoading && (
        <p class="dim loading" role="status">
          {loading}
        </p>
      )}
      {isAnswered && children?.(value as T)}
    </>
  );
}
