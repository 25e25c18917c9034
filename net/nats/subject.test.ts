import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  covers,
  HASH_START,
  hashNext,
  hashOf,
  hasWildcard,
  isLiteralSubject,
  isValidSubject,
  overlaps,
} from './subject.ts';

/** A loaded machine is slow; a test that hangs still ends. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const token = fc.constantFrom('a', 'b', 'c', '*');
const pattern = fc
  .tuple(fc.array(token, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([tokens, open]) => [...tokens, ...(open ? ['>'] : [])].join('.'));
const literal = fc
  .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 })
  .map((tokens) => tokens.join('.'));

const ALPHABET = ['a', 'b', 'c', 'd'];

/** All subjects of up to four tokens out of the alphabet the generators use: small enough to try every one. */
const universe = ALPHABET.flatMap((head) => grow(head, 4));

function grow(head: string, tokens: number): string[] {
  return tokens === 1 ? [head] : [head, ...ALPHABET.flatMap((next) => grow(`${head}.${next}`, tokens - 1))];
}

describe('subject', () => {
  it.each([
    ['foo', true],
    ['foo.bar', true],
    ['*', true],
    ['>', true],
    ['foo.*.bar.>', true],
    ['foo*bar', true],
    ['', false],
    ['.foo', false],
    ['foo.', false],
    ['foo..bar', false],
    ['foo.>.bar', false],
    [`${'a.'.repeat(31)}a`, true],
    [`${'a.'.repeat(32)}a`, false],
    ['a'.repeat(512), true],
    ['a'.repeat(513), false],
  ])('%s may be subscribed: %s', (subject, expected) => {
    expect(isValidSubject(subject)).toBe(expected);
  });

  it('takes a wildcard only as a whole token', () => {
    expect(['a*b', '*', 'a.>', 'a>', 'a.b'].map(hasWildcard)).toEqual([false, true, true, false, false]);
    expect(['a*b', 'a.*', 'a..b'].map(isLiteralSubject)).toEqual([true, false, false]);
  });

  it('covers exactly when every subject of the inner pattern is one of the outer', () => {
    fc.assert(
      fc.property(pattern, pattern, (outer, inner) => {
        const isSubset = universe.every((subject) => !covers(inner, subject) || covers(outer, subject));
        expect(covers(outer, inner)).toBe(isSubset);
      }),
      { numRuns: 150 },
    );
  });

  it('overlaps exactly when some subject is in both patterns', () => {
    fc.assert(
      fc.property(pattern, pattern, (one, two) => {
        const isShared = universe.some((subject) => covers(one, subject) && covers(two, subject));
        expect(overlaps(one, two)).toBe(isShared);
      }),
      { numRuns: 150 },
    );
  });

  it('hashes a string as the parser hashes its bytes', () => {
    fc.assert(
      fc.property(literal, (subject) => {
        const bytes = [...Buffer.from(subject, 'latin1')];
        expect(hashOf(subject)).toBe(bytes.reduce(hashNext, HASH_START));
      }),
    );
  });
});
