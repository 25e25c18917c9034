import { type Pattern, patternOf } from '../match.ts';

/** What a sentence wants done. */
export type Wish =
  | 'allow'
  | 'only'
  | 'onlyTo'
  | 'among'
  | 'keep'
  | 'deny'
  | 'isolate'
  | 'separate'
  | 'revoke'
  | 'takeBack'
  | 'limit'
  | 'limitAccess'
  | 'denyByDefault'
  | 'deletePolicy'
  | 'renamePolicy'
  | 'undo'
  | 'ask';

/** One way of asking. The first whose pattern fits the whole statement decides; none is tried twice. */
export interface Form {
  readonly wish: Wish;
  /** As the page of sentences names it. */
  readonly shape?: string;
  readonly patterns: readonly Pattern[];
  /** It names two sides as `a to b`, which some verbs give the other way round. */
  readonly arrow?: true;
  /** Ports at its end may belong to those who reach, or to all of it. */
  readonly passive?: true;
  /** Of a sentence in which something is missing. */
  readonly question?: string;
  /** Sentences that may be meant then. */
  readonly choices?: readonly string[];
}

export function form(wish: Wish, shape: string, patterns: readonly string[]): Form {
  return { wish, shape, patterns: patterns.map(patternOf) };
}

export function asks(question: string, patterns: readonly string[], choices: readonly string[] = []): Form {
  return { wish: 'ask', question, choices, patterns: patterns.map(patternOf) };
}
