import { type Command, Option } from 'commander';
import type { Columns } from '../core/base/operation.ts';
import { called } from './own-command.ts';
import { beyondColumns, textOf } from './table.ts';
import { visible, visibleJson } from './visible.ts';

const FORMATS = ['table', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

/** What a command answers. Standard output holds nothing else. */
export interface Answer {
  readonly value: unknown;
  /** For people, in place of the value itself. */
  readonly text?: string;
  /** For people: what a table of its `items` shows. */
  readonly columns?: Columns | undefined;
  /** What to do next, for people; a `mesh <command>` in it is written as this shell can run it. */
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
  else if (format === 'yaml')
    process.stdout.write(process.stdout.isTTY ? visible(await yamlOf(value)) : await yamlOf(value));
  else {
    const lines = [text ?? textOf(value, columns), ...hints.map(called)].filter((line) => line !== '');
    if (lines.length > 0) process.stdout.write(`${visible(lines.join('\n'))}\n`);
    const beyond = text === undefined && columns ? beyondColumns(value, columns) : undefined;
    if (beyond !== undefined) notice(beyond);
  }
}

/** Read only where it is asked for: a node that runs for months does without. */
export async function yamlOf(value: unknown): Promise<string> {
  const { dump } = await import('js-yaml');
  return dump(value, { lineWidth: -1, noRefs: true });
}

/** What a person should know beside the answer, on standard error. */
export function notice(text: string): void {
  process.stderr.write(`${visible(called(text))}\n`);
}
