import { type ChangeInput, parseChanges } from '../../../core/intent/plan/change-input.ts';
import { expectationInputSchema, expectationOf } from '../../../core/intent/plan/expectation-input.ts';
import type { Planner } from '../../../core/intent/plan/planner.ts';
import { builtinPlanner } from '../../../llm/grammar/builtin.ts';

interface Statement {
  readonly changes: readonly object[];
  readonly expectations: readonly object[];
}

/** By the intent that stands for it: intents are short. */
const STATEMENTS = new Map<string, Statement>();

/** The built-in planner, which also reads the intents of {@link stated}: plans with a statement of any effect. */
export const statingPlanner: Planner = {
  ...builtinPlanner,
  async plan(question) {
    const statement = STATEMENTS.get(question.intent);
    if (!statement) return builtinPlanner.plan(question);
    return {
      outcome: 'changes',
      changes: parseChanges(statement.changes as readonly ChangeInput[]),
      expectations: statement.expectations.map((one) => expectationOf(expectationInputSchema.parse(one))),
      summary: 'As stated.',
    };
  },
};

/** Returns an intent that states what its changes do. */
export function stated(changes: readonly object[], expectations: readonly object[]): { readonly intent: string } {
  const intent = `statement ${STATEMENTS.size + 1}`;
  STATEMENTS.set(intent, { changes, expectations });
  return { intent };
}
