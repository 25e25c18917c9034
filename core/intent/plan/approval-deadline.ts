import { formatSecond } from '../../base/time.ts';
import { BEGIN_SLACK_MS } from '../../state/begins.ts';

interface Beginning {
  /** The first begin among the policies that it writes or deletes, ms; absent where none of them waits. */
  readonly begins?: number;
}

/** Returns until when a plan or workflow can be approved, ms: from its begin on it would do something else. */
export function deadlineOf(longest: number, { begins = Number.POSITIVE_INFINITY }: Beginning): number {
  return Math.min(longest, begins - BEGIN_SLACK_MS);
}

/** Returns why a plan or workflow that has ended cannot be approved; undefined where its begin is not why. */
export function begunText({ begins }: Beginning, now: number): string | undefined {
  if (begins === undefined || begins - BEGIN_SLACK_MS > now) return undefined;
  return `It had to be approved before its begin (${formatSecond(begins)}): plan the change again.`;
}
