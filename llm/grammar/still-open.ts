import type { NetworkState } from '../../core/state/state.ts';
import { compose } from './compose.ts';
import { effectOfChanges } from './loosened.ts';
import { stepsOf } from './perform.ts';
import { attempt, quoted, Refusal } from './refusal.ts';
import type { Statement } from './statements.ts';

/**
 * "But web-1 may still reach api-1" keeps what is open; it opens nothing more.
 *
 * @throws Refusal where some of it is closed today
 */
export function requireStillOpen(statement: Statement, state: NetworkState, now: number): void {
  const { wish, words, text } = statement;
  if (wish !== 'allow' || !words.some((word) => /\bstill\b/.test(word.text))) return;
  const alone = attempt(() => compose(stepsOf(statement, state, now), state, now));
  if (!alone || alone.changes.length === 0) return;
  const { groups } = effectOfChanges(alone.changes, state, now);
  if (!groups.some(({ opened }) => opened.length > 0)) return;
  throw new Refusal(`${quoted(text)} says that it is open today, and some of it is closed.`, [
    'On which ports should it stay open? Name them, or leave "still" out to open all of it.',
  ]);
}
