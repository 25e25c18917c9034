import { expect, it } from 'vitest';
import { EVAL_NOW } from '../../evals/case.ts';
import { stateOfNetwork } from '../../evals/networks.ts';
import { planByGrammar } from './builtin.ts';
import { effectOfChanges } from './loosened.ts';

const state = stateOfNetwork('mixed');
const asked = (intent: string) => {
  const answer = planByGrammar({ intent, state, now: EVAL_NOW });
  if (answer.outcome !== 'refused') throw new Error(`${intent} is ${answer.outcome}`);
  return answer;
};

it.each([
  ['only laptop may reach role=db on 9999', 9999],
  ['only anna-mac may ssh to anything', 22],
])('offers nothing that closes another port than the one that is said: %s', (intent, port) => {
  const { choices } = asked(intent);
  expect(choices.length).toBeGreaterThan(0);
  for (const choice of choices) {
    const answer = planByGrammar({ intent: choice, state, now: EVAL_NOW });
    const changes = answer.outcome === 'changes' ? answer.changes : [];
    const closed = effectOfChanges(changes, state, EVAL_NOW).groups.flatMap((group) => group.closed);
    expect(closed.length).toBeGreaterThan(0);
    expect(closed.every(({ protocol, from, to }) => protocol === 'TCP' && from === port && to === port)).toBe(true);
  }
});

it('offers the part of a grant that no DENY forbids, and says who is held by which', () => {
  const { choices, questions } = asked('let the web servers talk to each other on 8300');
  expect(choices).toEqual(['let web-1 reach web-2 and web-3 on 8300/tcp; let web-2 reach web-1 and web-3 on 8300/tcp']);
  expect(questions[0]).toContain('"no-staging-in-prod" forbids web-3 to reach web-1');
});

it('offers both readings of ports behind an exception', () => {
  expect(asked('deny laptop to everything except web-1 on 443').choices).toEqual([
    'block laptop from everything except 443/tcp to web-1',
    'block laptop from everything on 443/tcp except web-1',
  ]);
});

it('makes no policy that ends for what stays open beyond its end', () => {
  const answer = planByGrammar({ intent: 'let laptop reach web-1 on 443 until 8pm', state, now: EVAL_NOW });
  expect(answer).toMatchObject({
    outcome: 'changes',
    changes: [],
    questions: [expect.stringContaining('open already')],
  });
});

it('keeps an exception at the end with those it is a part of', () => {
  expect(asked('only role=web or role=api may reach role=db, except api-2').choices).toEqual([
    'limit access to role=db to role=web or role=api except api-2',
  ]);
});

it('asks which evening hour is meant by "tonight"', () => {
  expect(asked('let laptop reach db-1 on 8080 until tonight').choices).toContain(
    'let laptop reach db-1 on 8080 until 20:00',
  );
});
