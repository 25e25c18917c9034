import { expect, test } from 'vitest';
import { inOptions, wordsOf } from './order-words.ts';

test.each([
  ['web-1,web-2', ['web-1', 'web-2']],
  ['tcp/5432,tcp/22', ['tcp/5432', 'tcp/22']],
  ['role=web,env=prod web-1', ['role=web,env=prod', 'web-1']],
])('%s is several words, and a comma between labels joins them', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test.each([
  ['/orders/0/through/0: There is no policy "x".', '--through: There is no policy "x".'],
  ['/orders/0/from/1: There is no peer "x".', '<from-peer>: There is no peer "x".'],
  ['/orders/0/starts: x, or use deny with starts.', '--starts: x, or use mesh deny with --starts.'],
  [
    '/orders/0/starts: Leave out starts to begin now, from when for counts then.',
    '--starts: Leave out --starts to begin now, from when --for counts then.',
  ],
  ['/orders/0/until: Give for or until, not both.', '--until: Give --for or --until, not both.'],
  [
    '/orders: Leave these out with except_from or except_to, or make a hole in it with "through": ["a","b"].',
    'Leave these out with --except-from or --except-to, or make a hole in it with --through a --through b.',
  ],
])('%s is said with the options of the command', (text, said) => {
  expect(inOptions(text)).toBe(said);
});
