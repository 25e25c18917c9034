import { MeshError } from '../../base/errors.ts';
import type { PlanAnswer, Planner, PlanQuestion } from './planner.ts';

type Refused = Extract<PlanAnswer, { outcome: 'refused' }>;

/**
 * A planner that proves what it reads, with another one behind it for the intents that it does not understand. Which of
 * them answers depends on the intent and the network alone, so a text made to mislead the second changes nothing about
 * an intent that the first understands.
 */
export function understoodFirst(sure: Planner, other: Planner): Planner {
  const { certain } = sure;
  const { wording } = other;
  return {
    name: `${sure.name}, ${other.name}`,
    ...((sure.asksModel || other.asksModel) && { asksModel: true }),
    async plan(question: PlanQuestion): Promise<PlanAnswer> {
      const { counterexample: _, ...anew } = question;
      const known = await sure.plan(anew);
      if (known.outcome !== 'refused') return question.counterexample ? sure.plan(question) : known;
      question.onStage?.('The grammar does not understand the sentence: a model is asked.');
      const answer = await other.plan(question).catch((error: unknown) => failureOf(error, question));
      if (answer.outcome !== 'refused') return answer;
      return {
        ...known,
        questions: [...known.questions, ...answer.questions],
        warnings: [...(known.warnings ?? []), ...(answer.warnings ?? [`A model was asked too. ${answer.reason}`])],
      };
    },
    ...(certain && { certain: (question) => certain.call(sure, question) }),
    ...(wording && { wording: (...asked) => wording.call(other, ...asked) }),
  };
}

/** A server that is away hides nothing of what the first planner says. */
function failureOf(error: unknown, { signal }: PlanQuestion): Refused {
  if (!(error instanceof MeshError) || error.code !== 'unavailable' || signal.aborted) throw error;
  const { message: reason } = error;
  return { outcome: 'refused', reason, questions: [], choices: [], warnings: [`No model could be asked. ${reason}`] };
}
