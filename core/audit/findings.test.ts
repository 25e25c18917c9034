import { expect, test } from 'vitest';
import { contradiction, rootOfLeaves, type StoredLogState } from './findings.ts';
import { leafHash } from './tree.ts';

const leavesOf = (text: string) => [...text].map((letter) => leafHash(letter));

function seenOf(text: string, withLeaves = true): StoredLogState {
  const leaves = leavesOf(text);
  const root = rootOfLeaves(leaves);
  return { size: leaves.length, root, at: 0, by: 'This machine', ...(withLeaves && { leaves }) };
}

test.each([
  ['it is the same', 'abcd', 'abcd', undefined],
  ['it grew', 'abcd', 'abcdef', undefined],
  ['it was empty', '', 'ab', undefined],
  ['its end was cut', 'abcd', 'abc', 'shortened'],
  ['it is empty', 'abcd', '', 'shortened'],
  ['an entry was inserted', 'abcd', 'abXcd', 'entry_inserted'],
  ['an entry was inserted and it grew', 'abcd', 'Xabcdef', 'entry_inserted'],
  ['an entry was removed and it grew', 'abcd', 'acdef', 'entry_removed'],
  ['an entry was changed', 'abcd', 'aXcd', 'entry_changed'],
  ['its last entry is another', 'abcd', 'abcX', 'forked'],
  ['it has another end', 'abcd', 'abXYZ', 'forked'],
  ['it is shorter and has another end', 'abcdef', 'abXY', 'forked'],
])('what is told of a log once %s', (_what, seen, now, code) => {
  expect(contradiction(leavesOf(now), seenOf(seen))?.code).toBe(code);
  const coarse = contradiction(leavesOf(now), seenOf(seen, false))?.code;
  expect(coarse).toBe(code === undefined ? undefined : now.length < seen.length ? 'shortened' : 'forked');
});

test('the message names the first entry that differs', () => {
  expect(contradiction(leavesOf('abXcd'), seenOf('abcd'))?.message).toMatch(
    /^This machine saw 4 entries .* entry 2 was inserted/,
  );
  expect(contradiction(leavesOf('aXcd'), seenOf('abcd'))?.message).toMatch(/entry 1 of them was changed/);
});
