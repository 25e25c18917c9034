import type { Problem } from '../../api/problem.ts';

/** Returns what can be asked in place of a question that was not understood: choices, and the question with a name that is near. */
export function suggestedQuestions(question: string, problem: Pick<Problem, 'listed' | 'message'>): readonly string[] {
  const [unknown] = [...problem.message.matchAll(/["“]([^"”]+)["”]/g)].flatMap(([, name = '']) =>
    question.includes(name) ? [name] : [],
  );
  const named =
    unknown === undefined ? [] : problem.listed('nearest').map((name) => question.replaceAll(unknown, () => name));
  return [...new Set([...problem.listed('choices'), ...named])];
}
