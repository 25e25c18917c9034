import { expect, test } from 'vitest';
import type { Transport } from './status.ts';
import { TRANSITIONS, wayTo } from './transitions.ts';

const STATES = Object.keys(TRANSITIONS) as Transport[];

test('every state but closed leads to every other in two steps at most, each of them in the table', () => {
  for (const from of STATES) {
    for (const to of STATES) {
      const way = wayTo(from, to);
      const isPossible = from !== 'closed' && from !== to;
      expect([from, to, way.at(-1)]).toEqual([from, to, isPossible ? to : undefined]);
      expect(way.length).toBeLessThanOrEqual(2);
      const steps = [from, ...way];
      for (const [n, state] of way.entries()) expect(TRANSITIONS[steps[n] ?? 'closed']).toContain(state);
    }
  }
});

test('what has failed is probed before it carries anything', () => {
  expect([wayTo('failed', 'ice-ready'), wayTo('failed', 'lrp-ready')]).toEqual([
    ['probing', 'ice-ready'],
    ['probing', 'lrp-ready'],
  ]);
});

test('a lost direct way goes to the relay in one step', () => {
  expect(wayTo('ice-ready', 'lrp-ready')).toEqual(['lrp-ready']);
});
