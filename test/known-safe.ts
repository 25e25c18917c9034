import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import judges from './npm-judges/package.json' with { type: 'json' };
import type { Expression } from './regular-expressions.ts';

/** In the repository: a clean clone asks the checker for what is new alone. */
const FILE = path.resolve('test/safe-expressions.json');
const keptSchema = z.strictObject({ checker: z.string(), safe: z.array(z.string()) });
type Kept = z.output<typeof keptSchema>;

/** The version of the checker: of another one nothing is known. */
const CHECKER = judges.dependencies.recheck;

/**
 * Expressions that the checker found safe: the same text gets the same verdict, and to ask for all of them takes minutes of a
 * processor.
 */
export class KnownSafe {
  readonly #known: ReadonlySet<string>;

  constructor() {
    const kept = read();
    this.#known = new Set(kept.checker === CHECKER ? kept.safe : []);
  }

  has(expression: Expression): boolean {
    return this.#known.has(textOf(expression));
  }

  /** Keeps these, and forgets those that stand nowhere any more. */
  keep(expressions: readonly Expression[]): void {
    const kept: Kept = { checker: CHECKER, safe: [...new Set(expressions.map(textOf))].sort() };
    const text = `${JSON.stringify(kept, null, 2)}\n`;
    if (text !== readFileSync(FILE, 'utf8')) writeFileSync(FILE, text);
  }
}

const textOf = ({ pattern, flags }: Expression) => `/${pattern}/${flags}`;

function read(): Kept {
  return keptSchema.parse(JSON.parse(readFileSync(FILE, 'utf8')));
}
