import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Expression } from './regular-expressions.ts';

const FILE = path.resolve('node_modules/.cache/safe-expressions.json');

/**
 * Expressions that the checker found safe on this machine, kept from run to run: the same text gets the same verdict, and to
 * ask for all of them takes half a minute of a processor. A clean clone has none.
 */
export class KnownSafe {
  readonly #checker: string;
  readonly #known: ReadonlySet<string>;

  /** @param checker its version and options: of another one nothing is known */
  constructor(checker: string) {
    this.#checker = checker;
    this.#known = new Set(read(checker));
  }

  has(expression: Expression): boolean {
    return this.#known.has(textOf(expression));
  }

  /** Keeps these, and forgets those that stand nowhere any more. */
  keep(expressions: readonly Expression[]): void {
    const safe = [...new Set(expressions.map(textOf))].sort();
    mkdirSync(path.dirname(FILE), { recursive: true });
    const written = `${FILE}.${process.pid}`;
    writeFileSync(written, JSON.stringify({ checker: this.#checker, safe }));
    renameSync(written, FILE);
  }
}

const textOf = ({ pattern, flags }: Expression) => `/${pattern}/${flags}`;

function read(checker: string): readonly string[] {
  try {
    const kept = JSON.parse(readFileSync(FILE, 'utf8')) as {
      readonly checker: string;
      readonly safe: readonly string[];
    };
    return kept.checker === checker ? kept.safe : [];
  } catch {
    return [];
  }
}
