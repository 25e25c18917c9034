import { describe, expect, it } from 'vitest';
import { stateWith } from '../../../test/kits/records/records.ts';
import { MeshError } from '../../base/errors.ts';
import type { PlanAnswer, Planner, PlanQuestion } from './planner.ts';
import { understoodFirst } from './understood-first.ts';

const PLAN: PlanAnswer = { outcome: 'orders', orders: [] };
const LAST: PlanAnswer = { outcome: 'revert', target: { to: 'before-last' } };
const no = (reason: string, ...questions: string[]): PlanAnswer => ({
  outcome: 'refused',
  reason,
  questions,
  choices: [],
});

const COUNTEREXAMPLE = { orders: [], objections: [], warnings: [] };
const question = (more: Partial<PlanQuestion> = {}): PlanQuestion => ({
  intent: 'i',
  state: stateWith(),
  now: 0,
  signal: new AbortController().signal,
  ...more,
});

async function ask(first: PlanAnswer, second: PlanAnswer | Error, more: Partial<PlanQuestion> = {}) {
  const asked: string[] = [];
  const planner = (name: string, answer: PlanAnswer | Error): Planner => ({
    name,
    plan({ counterexample }) {
      asked.push(counterexample ? `${name} again` : name);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
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

  it('says and asks what the first does where the second has no plan either, with what the second says', async () => {
    const known = { ...no('unclear', 'Which?'), choices: ['let web reach db on 5432'] };
    const warnings = ['A model was asked too. no'];
    expect((await ask(known, no('no'))).answer).toEqual({ ...known, warnings });
    expect((await ask(known, no('no', 'Who?'))).answer).toEqual({ ...known, questions: ['Which?', 'Who?'], warnings });
  });

  it('says and asks what the first does where the second is away, with a warning why', async () => {
    const known = { ...no('unclear', 'Which?'), choices: ['let web reach db on 5432'] };
    const away = new MeshError('unavailable', 'The model server cannot be reached.');
    const warnings = ['No model could be asked. The model server cannot be reached.'];
    expect((await ask(known, away)).answer).toEqual({ ...known, warnings });
    expect((await ask(known, away, { counterexample: COUNTEREXAMPLE })).answer).toEqual({ ...known, warnings });
  });

  it('hides neither a fault of the second nor that the call was cancelled', async () => {
    await expect(ask(no('unclear'), new TypeError('a fault'))).rejects.toThrow('a fault');
    const away = new MeshError('unavailable', 'The request was cancelled.');
    await expect(ask(no('unclear'), away, { signal: AbortSignal.abort() })).rejects.toBe(away);
  });
});
