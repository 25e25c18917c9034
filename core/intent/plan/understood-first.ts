import { MeshError } from '../../base/errors.ts';
import type { PlanAnswer, Planner, PlanQuestion } from './planner.ts';

type Refused = Extract<PlanAnswer, { outcome: 'refused' }>;

/**
 * Returns a planner of two: the second answers the intents that the first does not read. The intent and the network alone
 * decide which of them answers, so a text that misleads the second changes nothing about an intent that the first reads.
 */
export function understoodFirst(sure: Planner, other: Planner): Planner {
  const { certain } = sure;
  const { wording } = other;
  return {
    name: `${sure.name}, ${other.name}`,
    ...(other.modelTurns && { modelTurns: other.modelTurns }),
    async plan(question: PlanQuestion): Promise<PlanAnswer> {
      const { counterexample: _, ...anew } = question;
      const reading = await sure.plan(anew);
      if (reading.outcome !== 'refused') return question.counterexample ? sure.plan(question) : reading;
      question.onStage?.('Asking a model, because the built-in reader does not read the sentence');
      const answer = await other.plan(question).catch((error: unknown) => failureOf(error, question));
      if (answer.outcome !== 'refused') return answer;
      return {
        ...reading,
        questions: [...reading.questions, ...answer.questions],
        warnings: [...(reading.warnings ?? []), ...(answer.warnings ?? [`A model was asked too. ${answer.reason}`])],
      };
    },
    ...(certain && { certain: (question) => certain.call(sure, question) }),
    ...(wording && { wording: (...view) => wording.call(other, ...view) }),
  };
}

/** A server that is away hides nothing of what the first planner says. */
function failureOf(error: unknown, { signal }: PlanQuestion): Refused {
  if (!(error instanceof MeshError) || error.code !== 'unavailable' || signal.aborted) throw error;
  const { message: reason } = error;
  return { outcome: 'refused', reason, questions: [], choices: [], warnings: [`No model could be asked. ${reason}`] };
}
