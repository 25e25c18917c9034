import { expect, test } from 'vitest';
import { takesAway as isTakingAway } from '../core/base/operation.ts';
import { operations } from '../tools/index.ts';
import { isDestructive, withoutDestructive } from './destructive-words.ts';

test('every operation that takes something away is one that no suggestion names', () => {
  const taking = operations.filter(isTakingAway);
  expect(taking.length).toBeGreaterThan(15);
  const missed = taking.map(({ name }) => name.replaceAll('_', '-')).filter((name) => !isDestructive(name));
  expect(missed).toEqual([]);
});

test('what reads or creates may be suggested', () => {
  const harmless = operations.filter(({ effects }) => effects.readOnlyHint || !effects.destructiveHint);
  expect(harmless.map(({ name }) => name.replaceAll('_', '-')).filter(isDestructive)).toEqual([]);
  expect(['rename', 'log', 'peers', 'undo'].filter(isDestructive)).toEqual([]);
});

test('no option that takes away, or that answers a question, is suggested', () => {
  const said = (word: string, near: string) =>
    withoutDestructive(`error: unknown option '${word}'\n(Did you mean ${near}?)\n`);
  expect(said('--prun', '--prune')).toBe("error: unknown option '--prun'\n");
  expect(said('--ye', 'one of --by, --yes')).toBe("error: unknown option '--ye'\n(Did you mean --by?)\n");
  expect(['--force', '--accept-loss', '--yes', '--cancel'].filter((name) => !isDestructive(name))).toEqual([]);
  expect(['--accept-routes', '--format', '--peer'].filter(isDestructive)).toEqual([]);
});
