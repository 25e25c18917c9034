import { expect, test } from 'vitest';
import { operations } from '../tools/index.ts';
import { takesAway } from './taking-away.ts';

test('every operation that takes something away is one that no suggestion names', () => {
  const taking = operations.filter(
    ({ http, whenFull, effects }) => http.method === 'delete' || (whenFull === 'works' && effects.destructiveHint),
  );
  expect(taking.length).toBeGreaterThan(15);
  const missed = taking.map(({ name }) => name.replaceAll('_', '-')).filter((name) => !takesAway(name));
  expect(missed).toEqual([]);
});

test('what reads or creates may be suggested', () => {
  const harmless = operations.filter(({ effects }) => effects.readOnlyHint || !effects.destructiveHint);
  expect(harmless.map(({ name }) => name.replaceAll('_', '-')).filter(takesAway)).toEqual([]);
  expect(['rename', 'log', 'peers', 'undo'].filter(takesAway)).toEqual([]);
});
