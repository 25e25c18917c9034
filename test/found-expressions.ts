import { readFileSync } from 'node:fs';
import { operations } from '../tools/index.ts';
import { sourceFiles } from './kits/source-files.ts';
import { type Expression, type Expressions, expressionsIn } from './regular-expressions.ts';
import { walkSchema } from './walk-schema.ts';

/** All code but that of tests, which reads only what it made itself. */
const files = sourceFiles().filter(
  (file) => /\.[cm]?[jt]sx?$/.test(file) && !/^test\/|\.test\.|\.test-suite\./.test(file),
);

/** The regular expressions of all code but that of tests, by file. */
export const expressionsByFile: readonly (Expressions & { readonly file: string })[] = files.map((file) => ({
  file,
  ...expressionsIn(file, readFileSync(file, 'utf8')),
}));

/** The regular expressions of the code and of the input schemas. */
export function allExpressions(): Expression[] {
  return [...expressionsByFile.flatMap(({ expressions }) => expressions), ...expressionsOfSchemas()];
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
