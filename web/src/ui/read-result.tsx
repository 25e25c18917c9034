import { signal } from '@preact/signals';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useId, useLayoutEffect } from 'preact/hooks';
import type { Loaded } from '../api/load.ts';
import type { Problem } from '../api/problem.ts';
import { Skeleton } from '../design/skeleton.tsx';
import './read-result.css';
import { ProblemNotice } from './problem.tsx';

interface ReadResultProps<T> {
  readonly of: Loaded<T>;
  /** Stands in place of a skeleton until the first answer. */
  readonly loading?: string;
  /** Called with what was read alone: only there is it known that something is empty. */
  readonly children?: (value: T) => ComponentChildren;
}

/**
 * What was read; in its place that it is being read, or why it could not be. What was read before a failure stays, with the
 * time that it is of.
 */
export function ReadResult<T>({ of, loading, children }: ReadResultProps<T>) {
  const { value, answeredAt, problem, isLoading, reload } = of;
  const isAnswered = answeredAt !== undefined;
  return (
    <>
      <FailedRead problem={problem} reload={reload} answeredAt={answeredAt} />
      {!isAnswered && !problem && isLoading && <Waiting text={loading} />}
      {isAnswered && children?.(value as T)}
    </>
  );
}

function Waiting({ text }: { text: string | undefined }) {
  if (text === undefined) return <Skeleton text="Loading…" />;
  return (
    <p class="dim loading" role="status">
      {text}
    </p>
  );
}

/** Id of the dialog that something is in; none: the page. */
export const NoticePlace = createContext('');

interface Failed {
  readonly id: string;
  /** The same where reads of one place failed alike. */
  readonly key: string;
  readonly answeredAt: number | undefined;
  readonly reload: () => void;
}

const failedReads = signal<readonly Failed[]>([]);

type FailedReadProps = Pick<Loaded<unknown>, 'problem' | 'reload' | 'answeredAt'>;

/** Why it could not be read. Where several reads failed alike, the first tells it for all and asks all of them again. */
function FailedRead({ problem, reload, answeredAt }: FailedReadProps) {
  const id = useId();
  const key = keyOf(problem, useContext(NoticePlace));
  useLayoutEffect(() => {
    if (key === undefined) return undefined;
    const own = { id, key, answeredAt, reload };
    failedReads.value = [...failedReads.peek(), own];
    return () => {
      failedReads.value = failedReads.peek().filter((one) => one !== own);
    };
  }, [key, answeredAt, reload]);
  if (key === undefined) return null;
  const alike = failedReads.value.filter((one) => one.key === key);
  if (alike[0]?.id !== id) return null;
  const answered = alike.flatMap((one) => one.answeredAt ?? []);
  const again = () => {
    for (const one of alike) one.reload();
  };
  return (
    <ProblemNotice
      problem={problem}
      again={again}
      shownAsOf={answered.length === 0 ? undefined : Math.min(...answered)}
    />
  );
}

function keyOf(problem: Problem | undefined, place: string): string | undefined {
  return problem && JSON.stringify([place, problem.title, problem.message, problem.errors]);
}
