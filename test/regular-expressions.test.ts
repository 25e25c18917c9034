import { readFileSync } from 'node:fs';
import checker from 'recheck/package.json' with { type: 'json' };
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { operations } from '../tools/index.ts';
import { sourceFiles } from './kits/source-files.ts';
import { KnownSafe } from './known-safe.ts';
import { type Expression, type Expressions, expressionsIn } from './regular-expressions.ts';
import { walkSchema } from './walk-schema.ts';

/** All code but that of tests, which reads only what it made itself. */
const files = sourceFiles().filter(
  (file) => /\.[cm]?[jt]sx?$/.test(file) && !/^test\/|\.test\.|\.test-suite\./.test(file),
);

/** Expressions made of text that stands elsewhere, each with why no sender decides about it. */
const BUILT: Readonly<Record<string, string>> = {
  'core/base/ids.ts': 'the alphabet and the length of ids',
  'core/model/token.ts': 'the form of a session, and how much of a token is looked for',
  'platform/ip.ts': 'zeros and colons that the function wrote itself',
  'bench/firewall/tunnel.ts': 'the name that the bench gave its interface',
  'bench/node/process.ts': 'the three names of the function itself',
};

/** Only the JavaScript engine of the checker runs on every machine. */
const ENGINE = 'pure';
/**
 * The checker decides by counted steps. Three of its time limits stay: without them it takes minutes, and with them a machine
 * that is far too busy may call an expression slow that is not.
 */
const OPTIONS = { timeout: null };
const CHECK_ALL_MS = 300_000;

let checkSync: typeof import('recheck').checkSync;
beforeAll(async () => {
  vi.stubEnv('RECHECK_BACKEND', ENGINE);
  ({ checkSync } = await import('recheck'));
});
afterAll(() => vi.unstubAllEnvs());

test(
  'no regular expression of the code or of an input schema takes more than linear time on any text',
  () => {
    const found = [...files.flatMap((file) => read(file).expressions), ...expressionsOfSchemas()];
    expect(found.length).toBeGreaterThan(100);
    const known = new KnownSafe(JSON.stringify([checker.version, OPTIONS]));
    const slow = slowOnes(found.filter((one) => !known.has(one)));
    if (slow.length === 0) known.keep(found);
    expect(slow).toEqual([]);
  },
  CHECK_ALL_MS,
);

test('an expression is made of other text only where no sender decides about it', () => {
  const built = files.flatMap((file) => read(file).built.map(({ at, code }) => ({ file, at, code })));
  expect(built.filter(({ file }) => !Object.hasOwn(BUILT, file))).toEqual([]);
  expect(Object.keys(BUILT).filter((file) => !built.some((one) => one.file === file))).toEqual([]);
});

describe('what is planted is found', () => {
  test.each([
    'const deep = /^(?:[ \\t]*[-?:][ \\t]+){41}/m;',
    'const words = /^(\\w+\\s?)*$/;',
    'text.replace(/\\s+$/, "");',
    'const arrow = /^(.+) > (.+) : (.+)$/;',
    'const same = new RegExp("^(a|a)*$");',
    'const same = globalThis.RegExp(`(x+x+)+y`, "u");',
    'if (text.match("(x+)+y")) text = "";',
    'function f(text: string): boolean { return /(?:a*)*b/.test(text as string); }',
  ])('%s', (source) => {
    expect(slowOnes(expressionsIn('planted.ts', source).expressions)).toHaveLength(1);
  });

  const WORD = '$' + '{word}';
  test.each(['new RegExp(word)', `RegExp(\`^${WORD}$\`)`, 'new RegExp("a", flags)', `text.search(\`${WORD}+\`)`])(
    '%s as an expression of other text',
    (source) => {
      expect(expressionsIn('planted.ts', source).built).toEqual([{ at: 'planted.ts:1', code: source }]);
    },
  );
});

test.each(['const a = /^[a-z]{1,63}$/;', 'const b = 4 / 2 / 1; // /(a+)+$/', 'const c = "/(a+)+$/";'])(
  '%s is no finding',
  (source) => {
    const { expressions, built } = expressionsIn('harmless.ts', source);
    expect([...slowOnes(expressions), ...built]).toEqual([]);
  },
);

function read(file: string): Expressions {
  return expressionsIn(file, readFileSync(file, 'utf8'));
}

function expressionsOfSchemas(): Expression[] {
  return operations.flatMap(({ name, input }) =>
    [...walkSchema(input)].flatMap(({ pointer, schema }) => {
      const { def } = schema._zod;
      const checks = [def, ...(def.checks ?? []).map((check) => check._zod.def)];
      return checks.flatMap((check) =>
        'pattern' in check && check.pattern instanceof RegExp
          ? [{ pattern: check.pattern.source, flags: check.pattern.flags, at: `${name} ${pointer}` }]
          : [],
      );
    }),
  );
}

/** Each expression once, with the place where it stands first. */
function slowOnes(expressions: readonly Expression[]): string[] {
  const once = new Map(expressions.toReversed().map((one) => [`/${one.pattern}/${one.flags}`, one]));
  return [...once].flatMap(([text, { pattern, flags, at }]) => {
    const { status } = checkSync(pattern, flags, OPTIONS);
    return status === 'safe' ? [] : [`${at}: ${text} is ${status}`];
  });
}
