import { MeshError } from '../../errors.ts';
import type { PlanAnswer, Planner, PlanQuestion } from '../planner.ts';
import { compose } from './compose.ts';
import { isNameIn, namesOf } from './names.ts';
import { revertOf, stepsOf } from './perform.ts';
import { Refusal } from './refusal.ts';
import { parseStatement, type Statement, sentencesOf } from './statements.ts';

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

/** As {@link builtinPlanner}, at once. */
export function planByGrammar({ intent, state, now }: Pick<PlanQuestion, 'intent' | 'state' | 'now'>): PlanAnswer {
  try {
    const statements = understood(intent, { state, now });
    const [only] = statements;
    const target = only && statements.length === 1 ? revertOf(only) : undefined;
    if (target) return { outcome: 'revert', target };
    const steps = statements.flatMap((statement) => stepsOf(statement, state, now));
    return { outcome: 'changes', ...compose(steps, state, now) };
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', reason: error.message, questions: error.questions };
    if (error instanceof MeshError) return { outcome: 'refused', reason: error.message, questions: [] };
    throw error;
  }
}

function understood(intent: string, { state, now }: Pick<PlanQuestion, 'state' | 'now'>): Statement[] {
  const names = namesOf(state);
  const context = { now, isName: (word: string) => isNameIn(names, word) };
  const sentences = sentencesOf(intent);
  if (sentences.length === 0) throw new Refusal('Nothing is asked for.', ['What should change?']);
  return sentences.map((sentence) => parseStatement(sentence, context));
}
