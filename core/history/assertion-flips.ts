import { type AssertionRecord, assertionText } from '../assertions/assertion.ts';
import { checker } from '../assertions/check.ts';
import { sameValue } from '../model/value.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { Moment } from './moment.ts';

type AssertionState = 'holds' | 'fails';

/** An assertion that held at one of two moments and not at the other. */
export type AssertionFlip = {
  readonly assertion: string;
  /** The assertion in words. */
  readonly text: string;
  readonly old: AssertionState;
  readonly new: AssertionState;
  /** Why it fails where it does. */
  readonly detail: string;
};

interface Side extends Moment {
  readonly reach: Reachability;
  readonly assertions: ReadonlyMap<string, AssertionRecord>;
}

/** Assertions that are the same at both moments and do not say the same of them. */
export function assertionFlips(from: Side, to: Side): AssertionFlip[] {
  const [before, after] = [checker(from.state, from.reach), checker(to.state, to.reach)];
  return [...to.assertions.values()].flatMap(({ name, spec }): AssertionFlip[] => {
    const old = from.assertions.get(name);
    if (!old || !sameValue(old.spec, spec)) return [];
    const [was, is] = [before(spec), after(spec)];
    if ((was === undefined) === (is === undefined)) return [];
    const text = assertionText(spec);
    return [
      {
        assertion: name,
        text,
        old: was ? 'fails' : 'holds',
        new: is ? 'fails' : 'holds',
        detail: (was ?? is)?.detail ?? '',
      },
    ];
  });
}
