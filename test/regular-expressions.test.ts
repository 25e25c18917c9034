import { describe, expect, test } from 'vitest';
import { allExpressions, expressionsByFile } from './found-expressions.ts';
import { KnownSafe } from './known-safe.ts';
import { expressionsIn } from './regular-expressions.ts';

/** Expressions made of text that stands elsewhere, each with why no sender decides about it. */
const BUILT: Readonly<Record<string, string>> = {
  'core/base/ids.ts': 'the alphabet and the length of ids',
  'core/model/token.ts': 'the form of a session, and how much of a token is looked for',
  'platform/ip.ts': 'zeros and colons that the function wrote itself',
  'bench/firewall/tunnel.ts': 'the name that the bench gave its interface',
  'bench/node/process.ts': 'the three names of the function itself',
};

/** How an expression that is new gets its verdict. */
const JUDGE = 'sh test/npm-judges.sh && npx vitest run --project servers test/regular-expressions';

test('each regular expression of the code and of an input schema was found to take linear time on any text', () => {
  const found = allExpressions();
  expect(found.length).toBeGreaterThan(100);
  const known = new KnownSafe();
  const unknown = found.filter((one) => !known.has(one)).map(({ at, pattern, flags }) => `${at}: /${pattern}/${flags}`);
  expect(unknown, `have it judged: ${JUDGE}`).toEqual([]);
});

test('an expression is made of other text only where no sender decides about it', () => {
  const built = expressionsByFile.flatMap(({ file, built }) => built.map(({ at, code }) => ({ file, at, code })));
  expect(built.filter(({ file }) => !Object.hasOwn(BUILT, file))).toEqual([]);
  expect(Object.keys(BUILT).filter((file) => !built.some((one) => one.file === file))).toEqual([]);
});

describe('an expression made of other text is found', () => {
  const WORD = '$' + '{word}';
  test.each(['new RegExp(word)', `RegExp(\`^${WORD}$\`)`, 'new RegExp("a", flags)', `text.search(\`${WORD}+\`)`])(
    '%s as an expression of other text',
    (source) => {
      expect(expressionsIn('planted.ts', source).built).toEqual([{ at: 'planted.ts:1', code: source }]);
    },
  );
});
