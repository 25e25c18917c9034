import type { PlanAnswer, Planner, PlanQuestion } from '../planner.ts';
import { parseClauses } from './clauses.ts';
import { FORMS, SHAPES } from './forms.ts';
import { quoted, Refusal } from './refusal.ts';

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
    const clauses = parseClauses(intent, now);
    for (const form of FORMS) {
      const groups = form.pattern.exec(clauses.text);
      if (groups) return { outcome: 'changes', ...form.act({ ...groups.groups }, clauses, { state, now }) };
    }
    const reason = `${quoted(intent)} is not understood. What can be said: ${SHAPES.join('; ')}. Each with "on port 443", "for 2 hours" or "and nobody else" where it makes sense.`;
    return { outcome: 'refused', reason, questions: [] };
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'refused', reason: error.message, questions: error.questions };
    throw error;
  }
}
