import type { StateMoment } from '../history/network-moments.ts';
import { endedAt } from '../history/pair/causes.ts';
import type { CheckResult } from './check-result.ts';

/** A span in which a check said the same: up to but without `to`; of one instant where both are equal. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly holds: boolean | undefined;
  /** The facts behind the answer when the span began. */
  readonly facts: string;
  /** The cause of the span; undefined for the first. */
  readonly begun: Cause | undefined;
}

/** The moment at which an answer became another one. */
export interface Cause {
  readonly at: number;
  readonly revision: number;
  /** The records whose expiry alone caused the change; undefined for a revision. */
  readonly ended: readonly string[] | undefined;
}

/** Joins the answers of one check over a period to spans. */
export class Timeline {
  readonly #spans: Span[] = [];
  #open: Omit<Span, 'to'> | undefined;

  add(moment: StateMoment, { holds, facts }: CheckResult): void {
    if (this.#open && this.#open.holds === holds) return;
    const { at, revision, changes } = moment;
    const isTime = changes.length === 0;
    const ended = isTime ? endedAt(moment).map(({ kind, name }) => `${kind}/${name}`) : undefined;
    const begun = this.#open && { at, revision, ended };
    this.#close(at);
    this.#open = { from: at, holds, facts, begun };
  }

  /** All spans; what held for no time at all is one too, for a revision is never without effect. */
  end(to: number): readonly Span[] {
    this.#close(to);
    this.#open = undefined;
    return this.#spans;
  }

  #close(to: number): void {
    if (this.#open) this.#spans.push({ ...this.#open, to });
  }
}

/** The part of the judged time in which a check held, 0 to 1; undefined where nothing was judged. */
export function passingShare(spans: readonly Span[]): number | undefined {
  const judged = spans.filter(({ holds }) => holds !== undefined);
  if (judged.length === 0) return undefined;
  const length = (some: readonly Span[]) => some.reduce((sum, { from, to }) => sum + to - from, 0);
  const all = length(judged);
  const passing = judged.filter(({ holds }) => holds);
  return all === 0 ? passing.length / judged.length : length(passing) / all;
}
