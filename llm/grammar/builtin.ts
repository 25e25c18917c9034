import type { PlanAnswer, Planner, PlanQuestion } from '../../core/intent/plan/planner.ts';
import { readSentence } from './read.ts';
import { quoted } from './refusal.ts';

/** The planner that needs no model: a small language over the peers and labels of the workspace (docs/sentences.md). */
export const builtinPlanner = {
  name: 'builtin',
  plan: (question: PlanQuestion): Promise<PlanAnswer> =>
    Promise.resolve(question.counterexample ? NOTHING_BETTER : planByGrammar(question)),
  certain: planByGrammar,
} satisfies Planner;

/** The language reads the same sentence the same way, so a counterexample changes nothing. */
const NOTHING_BETTER: PlanAnswer = {
  outcome: 'refused',
  reason: 'There is no other way to read it.',
  questions: [],
  choices: [],
};

type Asked = Pick<PlanQuestion, 'intent' | 'state' | 'now' | 'history' | 'timeZone'>;

/** Answers as {@link builtinPlanner} does, at once. */
export function planByGrammar({ intent, timeZone = 'UTC', ...context }: Asked): PlanAnswer {
  const answer = readSentence(intent, { ...context, timeZone });
  if (answer.outcome === 'revert') return answer;
  if (answer.outcome === 'refused') {
    const { reason, questions, draft } = answer;
    return { outcome: 'refused', reason, questions, choices: [], draft };
  }
  const { reasons, ...ordered } = answer;
  const notes = reasons.map((text) => `Taken as a reason, changes nothing: ${quoted(text)}.`);
  return { ...ordered, ...(notes.length > 0 && { notes }) };
}
