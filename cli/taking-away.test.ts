import { expect, test } from 'vitest';
import { takesAway as isTakingAway } from '../core/base/operation.ts';
import { operations } from '../tools/index.ts';
import { harmless, takesAway } from './taking-away.ts';

test('every operation that takes something away is one that no suggestion names', () => {
  const taking = operations.filter(isTakingAway);
  expect(taking.length).toBeGreaterThan(15);
  const missed = taking.map(({ name }) => name.replaceAll('_', '-')).filter((name) => !takesAway(name));
  expect(missed).toEqual([]);
});

test('what reads or creates may be suggested', () => {
  const harmless = operations.filter(({ effects }) => effects.readOnlyHint || !effects.destructiveHint);
  expect(harmless.map(({ name }) => name.replaceAll('_', '-')).filter(takesAway)).toEqual([]);
  expect(['rename', 'log', 'peers', 'undo'].filter(takesAway)).toEqual([]);
});

test('no option that takes away, or that answers a question, is suggested', () => {
  const said = (word: string, near: string) => harmless(`error: unknown option '${word}'\n(Did you mean ${near}?)\n`);
  expect(said('--prun', '--prune')).toBe("error: unknown option '--prun'\n");
  expect(said('--ye', 'one of --by, --yes')).toBe("error: unknown option '--ye'\n(Did you mean --by?)\n");
  expect(['--force', '--accept-loss', '--yes', '--cancel'].filter((name) => !takesAway(name))).toEqual([]);
  expect(['--accept-routes', '--format', '--peer'].filter(takesAway)).toEqual([]);
});
