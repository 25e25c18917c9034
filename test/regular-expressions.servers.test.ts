import { describe, expect, test, vi } from 'vitest';
import { allExpressions } from './found-expressions.ts';
import { npmJudge } from './kits/process/npm-judges.ts';
import { KnownSafe } from './known-safe.ts';
import { type Expression, expressionsIn } from './regular-expressions.ts';

/** The function of recheck that is asked. */
type CheckSync = (
  pattern: string,
  flags: string,
  options: object,
) => { readonly status: 'safe' | 'vulnerable' | 'unknown' };

/**
 * The checker decides by counted steps. Three of its time limits stay: without them it takes minutes, and with them a machine
 * that is far too busy may call an expression slow that is not.
 */
const OPTIONS = { timeout: null };
const CHECK_ALL_MS = 300_000;
/** The long run asks for those too that the checker has found safe before. */
const IS_LONG = process.env['MESH_LONG'] !== undefined;

const judge = npmJudge('recheck/lib/main.js');
// Only the JavaScript engine of the checker runs on every machine.
vi.stubEnv('RECHECK_BACKEND', 'pure');
const { checkSync } = (judge === undefined ? {} : await import(judge)) as { readonly checkSync?: CheckSync };
vi.unstubAllEnvs();

describe.skipIf(checkSync === undefined)('recheck', () => {
  test(
    'finds that each regular expression of the code and of an input schema takes linear time on any text',
    () => {
      const found = allExpressions();
      const known = new KnownSafe();
      const slow = slowOnes(found.filter((one) => IS_LONG || !known.has(one)));
      if (slow.length === 0) known.keep(found);
      expect(slow).toEqual([]);
    },
    CHECK_ALL_MS,
  );

  test.each([
    'const deep = /^(?:[ \\t]*[-?:][ \\t]+){41}/m;',
    'const words = /^(\\w+\\s?)*$/;',
    'text.replace(/\\s+$/, "");',
    'const arrow = /^(.+) > (.+) : (.+)$/;',
    'const same = new RegExp("^(a|a)*$");',
    'const same = globalThis.RegExp(`(x+x+)+y`, "u");',
    'if (text.match("(x+)+y")) text = "";',
    'function f(text: string): boolean { return /(?:a*)*b/.test(text as string); }',
  ])('finds %s slow', (source) => {
    expect(slowOnes(expressionsIn('planted.ts', source).expressions)).toHaveLength(1);
  });

  test.each(['const a = /^[a-z]{1,63}$/;', 'const b = 4 / 2 / 1; // /(a+)+$/', 'const c = "/(a+)+$/";'])(
    'finds no fault with %s',
    (source) => {
      const { expressions } = expressionsIn('harmless.ts', source);
      expect(slowOnes(expressions)).toEqual([]);
    },
  );
});

/** Each expression once, with the place where it stands first. */
function slowOnes(expressions: readonly Expression[]): string[] {
  const once = new Map(expressions.toReversed().map((one) => [`/${one.pattern}/${one.flags}`, one]));
  return [...once].flatMap(([text, { pattern, flags, at }]) => {
    const status = checkSync?.(pattern, flags, OPTIONS).status;
    return status === 'safe' ? [] : [`${at}: ${text} is ${status}`];
  });
}
