import { describe, expect, it } from 'vitest';
import { stateWith } from '../../test/records.ts';
import type { PlanAnswer, Planner, PlanQuestion } from './planner.ts';
import { understoodFirst } from './understood-first.ts';

const PLAN: PlanAnswer = { outcome: 'changes', changes: [], expectations: [], summary: 'a plan' };
const LAST: PlanAnswer = { outcome: 'revert', target: { to: 'before-last' } };
const no = (reason: string, ...questions: string[]): PlanAnswer => ({
  outcome: 'refused',
  reason,
  questions,
  choices: [],
});

const COUNTEREXAMPLE = { changes: [], expectations: [], unmet: [], unmetRecords: [], broken: [], findings: [] };
const question = (more: Partial<PlanQuestion> = {}): PlanQuestion => ({
  intent: 'i',
  state: stateWith(),
  now: 0,
  signal: new AbortController().signal,
  ...more,
});

async function ask(first: PlanAnswer, second: PlanAnswer, more: Partial<PlanQuestion> = {}) {
  const asked: string[] = [];
  const planner = (name: string, answer: PlanAnswer): Planner => ({
    name,
    plan({ counterexample }) {
      asked.push(counterexample ? `${name} again` : name);
      return Promise.resolve(answer);
    },
  });
  return {
    answer: await understoodFirst(planner('sure', first), planner('other', second)).plan(question(more)),
    asked,
  };
}

describe('a planner with another one behind it', () => {
  it.each([
    ['a plan', PLAN],
    ['an undo', LAST],
  ])('keeps the second out of %s that the first understands', async (_what, known) => {
    expect(await ask(known, PLAN)).toEqual({ answer: known, asked: ['sure'] });
  });

  it('asks the second for what the first does not understand', async () => {
    expect(await ask(no('unclear'), PLAN)).toEqual({ answer: PLAN, asked: ['sure', 'other'] });
  });

  it('shows a counterexample to the one that answered', async () => {
    const counterexample = COUNTEREXAMPLE;
    expect((await ask(PLAN, PLAN, { counterexample })).asked).toEqual(['sure', 'sure again']);
    expect((await ask(no('unclear'), PLAN, { counterexample })).asked).toEqual(['sure', 'other again']);
  });

  it('asks what the first would have asked where the second has nothing to ask', async () => {
    expect((await ask(no('unclear', 'Which?'), no('no'))).answer).toEqual(no('no', 'Which?'));
    expect((await ask(no('unclear', 'Which?'), no('no', 'Who?'))).answer).toEqual(no('no', 'Who?'));
  });
});
