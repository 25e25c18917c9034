import { expect } from 'vitest';

/** The id of a plan that was answered, over HTTP or MCP. Where it was refused, the test fails with the whole refusal. */
export function planIdOf(answer: unknown): string {
  expect(answer).toMatchObject({ plan_id: expect.stringMatching(/^plan_/) });
  return (answer as { readonly plan_id: string }).plan_id;
}
