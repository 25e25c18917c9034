import { describe, expect, it } from 'vitest';
import { planByGrammar } from '../llm/grammar/builtin.ts';
import { EVAL_NOW } from './case.ts';
import { stateOfNetwork } from './networks.ts';
import { refusalsOf } from './refusals.testkit.ts';

const refusals = refusalsOf(
  'let web reach db on 22 and udp',
  'block web from db on 22 and udp',
  'let web reach db on udp and 443',
);

describe('every question', () => {
  it('without choices names a wording, a tool or those who may be meant', () => {
    const dead = refusals
      .filter(({ answer }) => answer.choices.length === 0 && !leadsOn([answer.reason, ...answer.questions]))
      .map(({ intent, answer }) => `${intent} => ${[answer.reason, ...answer.questions].join(' | ')}`);
    expect([...new Set(dead)]).toEqual([]);
  });

  it('with choices is not asked again when one of them is sent', () => {
    const again = refusals.flatMap(({ answer, ...asked }) =>
      answer.choices.flatMap((intent) => {
        const next = planByGrammar({ ...asked, intent, now: EVAL_NOW });
        const same = next.outcome === 'refused' && next.questions.some((one) => answer.questions.includes(one));
        return same ? [`${asked.intent} => ${intent}`] : [];
      }),
    );
    expect(again).toEqual([]);
  });
});

describe('a question between two readings', () => {
  it.each([
    'ci may reach db on 5432 and api may reach db on 5432 until 18:00',
    'ci may reach db on 5432, until 18:00 api may reach db on 5432',
    'the laptop may reach db on 5432 and ci on 22',
    'let web reach db on 22 and udp',
    'web may talk to db and nobody else',
    'let web reach db until next friday 18:00',
    'let web reach db until friday midnight',
    'web may reach db on 5432 and to nobody else',
    'only web and db may reach each other',
    'ci and api may reach each other only via ssh',
    'isolate db except ci on 5432',
    'nobody may reach db except api on 5432 and ci on 9100',
    'db may only be reached by api on 5432 and ci on 9100',
    'only api on 5432 and ci on 9100 may reach db',
    'api may only reach db on 5432 and web on 443',
    'let api reach db for two hours, then for good',
    'only https and ping may reach web',
    'nobody but ci may ssh anywhere',
    'let laptop reach db on 22, and close everything else from ci',
    'let laptop reach db until 18:00 ist',
  ])('has each as a choice, with an effect of its own: %s', (intent) => {
    // In a closed network "and nobody else" is so already.
    const state = stateOfNetwork(intent.includes('nobody else') ? 'home' : 'studio');
    const answer = planByGrammar({ intent, state, now: EVAL_NOW });
    const choices = answer.outcome === 'refused' ? answer.choices : [];
    const done = choices.map((choice) => {
      const next = planByGrammar({ intent: choice, state, now: EVAL_NOW });
      return next.outcome === 'changes' ? JSON.stringify(next.changes) : choice;
    });
    expect(new Set(done).size).toBeGreaterThanOrEqual(2);
  });
});

describe('a time that is asked about', () => {
  it.each([
    ['until 25 october 02:30', 'Europe/Zurich', 2],
    ['until 29 march 02:30', 'Europe/Zurich', 1],
    ['until friday 18:00 local time', 'Europe/Zurich', 2],
    ['until 18:00 gotham time', 'UTC', 1],
  ])('has each instant as a choice that is planned, and drops no word: %s in %s', (end, timeZone, count) => {
    const asked = { state: stateOfNetwork('studio'), now: EVAL_NOW, timeZone };
    const answer = planByGrammar({ ...asked, intent: `let ci reach db on 5432 ${end}` });
    const choices = answer.outcome === 'refused' ? answer.choices : [];
    expect(choices).toHaveLength(count);
    for (const intent of choices) {
      expect(intent).toMatch(/^let ci reach db on 5432 until \d{4}-\d\d-\d\dT[\d:.]+Z$/);
      expect(planByGrammar({ ...asked, intent }).outcome).toBe('changes');
    }
  });
});

/** A form or an order in quotes, a tool, a list of names, or what it was read as. */
function leadsOn(texts: readonly string[]): boolean {
  const ORDER =
    /"(?:let|block|deny|only|limit|revoke|isolate|delete|everyone|all|except|on|until|for|must|also|make|and|port|role=)\b[^"]*"/;
  const NAMES = /(?:Peers|Known|Labels|Which ones?|Which policy\?): ?\S|Did you mean "/;
  return texts.some(
    (one) => ORDER.test(one) || NAMES.test(one) || /\b[a-z]+_[a-z]+/.test(one) || one.startsWith('Read as "'),
  );
}
