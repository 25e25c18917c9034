import type { PlanAnswer, Planner, PlanQuestion } from './planner.ts';

/**
 * A planner that proves what it reads, with another one behind it for the intents that it does not understand. Which of
 * them answers depends on the intent and the network alone, so a text made to mislead the second changes nothing about
 * an intent that the first understands.
 */
export function understoodFirst(sure: Planner, other: Planner): Planner {
  const { wording } = other;
  return {
    name: `${sure.name}, ${other.name}`,
    ...((sure.asksModel || other.asksModel) && { asksModel: true }),
    async plan(question: PlanQuestion): Promise<PlanAnswer> {
      const { counterexample: _, ...anew } = question;
      const known = await sure.plan(anew);
      if (known.outcome !== 'refused') return question.counterexample ? sure.plan(question) : known;
      const answer = await other.plan(question);
      if (answer.outcome !== 'refused') return answer;
      const questions = answer.questions.length > 0 ? answer.questions : known.questions;
      const { choices, partial } = known;
      return { ...answer, questions, choices, ...(partial && { partial }) };
    },
    ...(wording && { wording: (...asked) => wording.call(other, ...asked) }),
  };
}
