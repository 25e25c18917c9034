import type { QuestionReader } from '../../core/history/pair/question-reader.ts';
import type { Planner } from '../../core/intent/plan/planner.ts';

const loadPlanner = async () => (await import('../../llm/grammar/builtin.ts')).builtinPlanner;

/** The planner that needs no model; its grammar is loaded with the first intent. */
export const grammarPlanner: Planner = {
  name: 'builtin',
  plan: async (question) => (await loadPlanner()).plan(question),
  certain: async (question) => (await loadPlanner()).certain(question),
};

/** The reader of questions about the past, loaded with the first of them. */
export const grammarReader: QuestionReader = {
  read: async (...question) => (await import('../../llm/questions/reader.ts')).questionReader.read(...question),
};
