import { type Command, Option } from 'commander';
import type { ScalarStyleRule } from 'js-yaml';
import type { Columns } from '../core/base/operation.ts';
import { withCommands } from './operation-names.ts';
import { runnable } from './own-command.ts';
import { beyondColumns, textOf } from './table.ts';
import { isHiding, visible, visibleInLine, visibleJson, withEscapes } from './visible.ts';

const FORMATS = ['table', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

/** A line of a text for people, or each of its lines: what others wrote into one cannot be taken for another. */
export type Lines = string | readonly string[];

/** The answer of a command. Standard output holds nothing else. */
export interface Answer {
  readonly value: unknown;
  /** For people, in place of the value itself: a line, or several. An end of a line that is inside of one does not end it. */
  readonly text?: Lines;
  /** For people: what a table of its `items` shows. */
  readonly columns?: Columns | undefined;
  /** The next steps for people; each `mesh <command>` is rewritten so that this shell can run it. */
  readonly hints?: readonly string[];
  readonly exitCode?: number;
}

interface OutputOptions {
  readonly format?: Format;
  readonly json?: boolean;
}

/** Gives a command its action; what the action answers is printed in the format that was asked for. */
export function answering<A extends unknown[]>(
  command: Command,
  run: (...args: A) => Promise<Answer | undefined> | Answer | undefined,
): Command {
  return withOutput(command).action(async (...args: unknown[]) => {
    const answer = await run(...(args as A));
    if (!answer) return;
    await print(answer, formatIn(command.opts()));
    if (answer.exitCode !== undefined) process.exitCode = answer.exitCode;
  });
}

/** Names that no other option of a command can have. */
export const OUTPUT_FLAGS = ['--format', '--json'];

/** The options of every command: a test finds one that lacks them. */
function withOutput(command: Command): Command {
  return command
    .addOption(new Option('-o, --format <format>', 'how to print the answer').choices(FORMATS))
    .option('--json', 'the same as -o json');
}

export function formatIn({ json, format }: OutputOptions): Format {
  return json ? 'json' : (format ?? 'table');
}

/** The format that a command line asks for, also one that cannot be parsed. */
export function formatAsked(args: readonly string[]): Format {
  const end = args.indexOf('--');
  const own = end < 0 ? args : args.slice(0, end);
  const isAsked = (format: Format) =>
    own.some((arg, at) =>
      arg === '-o' || arg === '--format' ? own[at + 1] === format : [`-o${format}`, `--format=${format}`].includes(arg),
    );
  if (own.includes('--json') || isAsked('json')) return 'json';
  return isAsked('yaml') ? 'yaml' : 'table';
}

/** Writes an answer to standard output. */
export async function print({ value, text, columns, hints = [] }: Answer, format: Format): Promise<void> {
  if (format === 'json') process.stdout.write(`${visibleJson(value, 2)}\n`);
  else if (format === 'yaml') process.stdout.write(await yamlOf(value));
  else {
    const shown = text === undefined ? visible(textOf(value, columns)) : await withCommands(shownLines(text));
    const lines = [shown, ...hints.map((hint) => shownLines(runnable(hint)))].filter((line) => line !== '');
    if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
    const beyond = text === undefined && columns ? beyondColumns(value, columns) : undefined;
    if (beyond !== undefined) notice(beyond);
  }
}

/** YAML with escapes for what a terminal would act on. Read only where it is asked for: a node that runs for months does without. */
export async function yamlOf(value: unknown): Promise<string> {
  const { DEFAULT_SCALAR_STYLE_RULES, dump, SCALAR_STYLE } = await import('js-yaml');
  const quoteHidden: ScalarStyleRule = (layout) => {
    // In no other style is there an escape.
    if (isHiding(layout.node.value)) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
  };
  const scalarStyleRules = [quoteHidden, ...Object.values(DEFAULT_SCALAR_STYLE_RULES)];
  return withEscapes(dump(value, { lineWidth: -1, noRefs: true, scalarStyleRules }));
}

/** Writes a notice for people to standard error, beside the answer. */
export function notice(text: Lines): void {
  process.stderr.write(`${shownLines([text].flat().map(runnable))}\n`);
}

function shownLines(text: Lines): string {
  return [text].flat().map(visibleInLine).join('\n');
}
