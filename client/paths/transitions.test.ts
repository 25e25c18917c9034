import { expect, test } from 'vitest';
import type { Transport } from './status.ts';
import { statesTo, TRANSITIONS } from './transitions.ts';

const STATES = Object.keys(TRANSITIONS) as Transport[];

test('every state but closed leads to every other in two steps at most, each of them in the table', () => {
  for (const from of STATES) {
    for (const to of STATES) {
      const states = statesTo(from, to);
      const isPossible = from !== 'closed' && from !== to;
      expect([from, to, states.at(-1)]).toEqual([from, to, isPossible ? to : undefined]);
      expect(states.length).toBeLessThanOrEqual(2);
      const steps = [from, ...states];
      for (const [n, state] of states.entries()) expect(TRANSITIONS[steps[n] ?? 'closed']).toContain(state);
    }
  }
});

test('what has failed is probed before it carries anything', () => {
  expect([statesTo('failed', 'ice-ready'), statesTo('failed', 'lrp-ready')]).toEqual([
    ['probing', 'ice-ready'],
    ['probing', 'lrp-ready'],
  ]);
});

test('a lost direct path goes to the relay in one step', () => {
  expect(statesTo('ice-ready', 'lrp-ready')).toEqual(['lrp-ready']);
});
