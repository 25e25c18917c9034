import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Expression } from './regular-expressions.ts';

/** In the repository: a clean clone asks the checker for what is new alone. */
const FILE = path.resolve('test/safe-expressions.json');
const keptSchema = z.strictObject({ checker: z.string(), safe: z.array(z.string()) });
type Kept = z.output<typeof keptSchema>;

/**
 * Expressions that the checker found safe: the same text gets the same verdict, and to ask for all of them takes minutes of a
 * processor. `npm run test:long` asks for all.
 */
export class KnownSafe {
  readonly #checker: string;
  readonly #known: ReadonlySet<string>;

  /** @param checker its version and options: of another one nothing is known */
  constructor(checker: string) {
    this.#checker = checker;
    const kept = read();
    this.#known = new Set(kept.checker === checker && process.env['MESH_LONG'] === undefined ? kept.safe : []);
  }

  has(expression: Expression): boolean {
    return this.#known.has(textOf(expression));
  }

  /** Keeps these, and forgets those that stand nowhere any more. */
  keep(expressions: readonly Expression[]): void {
    const kept: Kept = { checker: this.#checker, safe: [...new Set(expressions.map(textOf))].sort() };
    const text = `${JSON.stringify(kept, null, 2)}\n`;
    if (text !== readFileSync(FILE, 'utf8')) writeFileSync(FILE, text);
  }
}

const textOf = ({ pattern, flags }: Expression) => `/${pattern}/${flags}`;

function read(): Kept {
  return keptSchema.parse(JSON.parse(readFileSync(FILE, 'utf8')));
}
