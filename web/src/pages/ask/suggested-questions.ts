import { quotedIn } from '../../ui/quoted.ts';

/** The part of a problem that names what was meant. */
interface Refusal {
  readonly message: string;
  listed(name: string): readonly string[];
}

/** Returns what can be asked in place of a question that was not understood: choices, and the question with a name that is near. */
export function suggestedQuestions(question: string, problem: Refusal): readonly string[] {
  const unknown = quotedIn(problem.message).find((name) => question.includes(name));
  const named =
    unknown === undefined ? [] : problem.listed('nearest').map((name) => question.replaceAll(unknown, () => name));
  return [...new Set([...problem.listed('choices'), ...named])];
}
