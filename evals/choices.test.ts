import { describe, expect, it } from 'vitest';
import { parseChange } from '../core/intent/plan/change-input.ts';
import { expectationInputSchema } from '../core/intent/plan/expectation-input.ts';
import { intentNotUnderstood } from '../core/intent/plan/not-understood.ts';
import { planByGrammar } from '../llm/grammar/builtin.ts';
import { EVAL_NOW } from './case.ts';
import { forms, refusalsOf } from './refusals.testkit.ts';

const refusals = refusalsOf();

const LIMITED = /\b(only|except|limit|but|nobody)\b/;
/** In which words a choice may say again what an intent restricts. */
const MEANT_BY: Readonly<Record<string, RegExp>> = {
  only: LIMITED,
  except: LIMITED,
  but: LIMITED,
  nobody: LIMITED,
  'no one': LIMITED,
  until: /\b(until|for)\b/,
  temporarily: /\b(until|for)\b/,
  unless: /\bunless\b/,
  'instead of': /; (block|revoke) /,
};

describe('a refusal', () => {
  it('offers only sentences that are planned as they stand, with what was said before and without', () => {
    const offered = refusals.flatMap(({ answer, ...asked }) => answer.choices.map((intent) => ({ ...asked, intent })));
    expect(offered.length).toBeGreaterThan(100);
    const asking = offered.filter(({ intent, history, state }) =>
      [history, []].some(
        (before) => planByGrammar({ intent, history: before, state, now: EVAL_NOW }).outcome === 'refused',
      ),
    );
    expect(asking.map(({ intent }) => intent)).toEqual([]);
  });

  it('never loses a word that restricts, unless it quotes the word', () => {
    const RESTRICTING = /\b(only|except|but|nobody|no one|until|unless|temporarily|instead of)\b/g;
    const lost = refusals.flatMap(({ intent, answer: { choices, reason, questions } }) => {
      const told = [reason, ...questions].flatMap((text) => text.match(/"[^"]*"/g) ?? []);
      return choices.flatMap((choice) =>
        [...intent.toLowerCase().matchAll(RESTRICTING)]
          .map(([word]) => word)
          .filter((word) => !MEANT_BY[word]?.test(choice) && !told.some((one) => new RegExp(`\\b${word}\\b`).test(one)))
          .map((word) => `${word}: ${intent} => ${choice}`),
      );
    });
    expect(lost).toEqual([]);
  });

  it('hands back what was understood in the form that the next call takes', () => {
    for (const { answer } of refusals) {
      const { details } = intentNotUnderstood(answer);
      const { changes, expectations } = details as { changes: never[]; expectations: never[] };
      expect(changes.map(parseChange).filter(({ success }) => !success)).toEqual([]);
      for (const one of expectations) expectationInputSchema.parse(one);
    }
  });

  it('never names a time again that was said', () => {
    const answer = planByGrammar({
      intent: 'temporarily allow web to reach the database for 2h',
      state: forms,
      now: EVAL_NOW,
    });
    expect(answer).toMatchObject({ outcome: 'changes', summary: expect.stringContaining('role=web') });
  });

  it('never advises to delete a policy that is not stored', () => {
    const advised = refusals.flatMap(({ answer, state }) =>
      [...answer.choices, ...answer.questions]
        .flatMap((text) => /delete the policy ([\w-]+)/.exec(text)?.[1] ?? [])
        .filter((name) => !state.policies.has(name)),
    );
    expect(advised).toEqual([]);
  });
});
