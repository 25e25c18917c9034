import { MeshError } from '../../errors.ts';
import type { PlanAnswer, Planner, PlanQuestion } from '../planner.ts';
import { compose } from './compose.ts';
import { amendedAct, type FollowUp, followUp, withReferents } from './follow-up.ts';
import type { Context } from './modifiers.ts';
import { isNameIn, namesOf } from './names.ts';
import { revertOf, stepsOf } from './perform.ts';
import { Refusal } from './refusal.ts';
import { sentencesOf } from './sentences.ts';
import { parseStatement, type Statement } from './statements.ts';

/**
 * The planner that needs no model: a fixed grammar over the peers and labels of the workspace. What it does not understand
 * whole it refuses; a name is never more than a name.
 */
export const builtinPlanner: Planner = {
  name: 'builtin',
  plan: (question) => Promise.resolve(question.counterexample ? NOTHING_BETTER : planByGrammar(question)),
};

/** The grammar answers the same question the same way, so a counterexample changes nothing. */
const NOTHING_BETTER: PlanAnswer = { outcome: 'refused', reason: 'There is no other way to say it.', questions: [] };

type Question = Pick<PlanQuestion, 'intent' | 'state' | 'now' | 'history'>;

/** As {@link builtinPlanner}, at once. */
export function planByGrammar(question: Question): PlanAnswer {
  try {
    return planned(question);
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', reason: error.message, questions: error.questions };
    if (error instanceof MeshError) return { outcome: 'refused', reason: error.message, questions: [] };
    throw error;
  }
}

function planned({ intent, state, now, history = [] }: Question): PlanAnswer {
  const names = namesOf(state);
  const context: Context = { now, isName: (word) => isNameIn(names, word) };
  const wishes = understood(intent, lastOf(history, context), context);
  const [only] = wishes;
  const target = only && wishes.length === 1 ? revertOf(only.statement) : undefined;
  if (target) return { outcome: 'revert', target };
  const next = compose(
    wishes.flatMap(({ statement }) => stepsOf(statement, state, now)),
    state,
    now,
  );
  if (!only?.amends) return { outcome: 'changes', ...next };
  const before = compose(stepsOf(only.amends, state, now), state, now);
  return { outcome: 'changes', ...amendedAct(next, before, state, now) };
}

function understood(intent: string, last: Statement | undefined, context: Context): FollowUp[] {
  const sentences = sentencesOf(intent);
  if (sentences.length === 0) throw new Refusal('Nothing is asked for.', ['What should change?']);
  let before = last;
  return sentences.map((sentence) => {
    const found = (sentences.length === 1 && followUp(sentence, before, context)) || {
      statement: withReferents(parseStatement(sentence, context), before),
    };
    before = found.statement;
    return found;
  });
}

/** Intents before this one that are looked at. */
const MAX_HISTORY = 10;

/** The last thing that was said before and understood; what was not, is as if it was not said. */
function lastOf(history: readonly string[], context: Context): Statement | undefined {
  let last: Statement | undefined;
  for (const intent of history.slice(-MAX_HISTORY)) {
    try {
      last = understood(intent, last, context).at(-1)?.statement;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      last = undefined;
    }
  }
  return last;
}
