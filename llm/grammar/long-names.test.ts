import { expect, it } from 'vitest';
import { network, peer, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const MAX_NAME = 63;

it('two names that differ behind the length of a name get policies of different names in one plan', () => {
  const long = 'x'.repeat(MAX_NAME - 1);
  const names = [`${long}1`, `${long}2`];
  const state = stateWith(
    network('default', { defaultAction: 'DENY' }),
    ...[...names, 'db-1'].map((name) => peer(name)),
  );
  const answer = planByGrammar({ intent: `let ${names.join(' and ')} reach db-1`, state, now: 0 });
  if (answer.outcome !== 'changes') throw new Error(JSON.stringify(answer));
  const written = answer.changes.map(({ name }) => name);
  expect(new Set(written).size).toBe(3);
  expect(written.every((name) => name.length <= MAX_NAME)).toBe(true);
});
