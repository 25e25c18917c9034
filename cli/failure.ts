import { type Command, CommanderError } from 'commander';
import { nearest } from '../core/base/nearest.ts';
import type { Format } from './answer.ts';
import { isDestructive, suggestionIn } from './destructive-words.ts';
import { CliError, EXIT } from './exit.ts';
import { failureText } from './field-names.ts';
import { withCommands } from './operation-names.ts';
import { runnable } from './own-command.ts';
import { visible, visibleJson, visibleLine } from './visible.ts';

/**
 * Says on standard error why a command failed: a sentence, or under `-o json` the problem as one object on a line of its own.
 *
 * @returns the exit code
 * @throws what is no expected failure
 */
export async function reportFailure(error: unknown, { program, args, format }: FailedCommand): Promise<number> {
  const told = error instanceof CommanderError ? usageError(error, program, args) : expected(error);
  if (told === 'shown') return (error as CommanderError).exitCode === 0 ? EXIT.ok : EXIT.input;
  if (!(told instanceof CliError)) throw told;
  const { command } = commandOf(program, args);
  const detail = runnable(await withCommands(failureText(command, told)));
  const problem = { code: CODES[told.exitCode], detail, ...told.problem, exitCode: told.exitCode };
  process.stderr.write(`${format === 'json' ? visibleJson(problem) : visible(detail)}\n`);
  return told.exitCode;
}

interface FailedCommand {
  readonly program: Command;
  readonly args: readonly string[];
  readonly format: Format;
}

/** The codes of failures without a server's answer, by exit code. */
const CODES: Readonly<Record<number, string>> = {
  [EXIT.negative]: 'negative',
  [EXIT.input]: 'invalid_input',
  [EXIT.auth]: 'unauthenticated',
  [EXIT.notFound]: 'not_found',
  [EXIT.conflict]: 'conflict',
  [EXIT.edition]: 'edition_required',
  [EXIT.unavailable]: 'unavailable',
  [EXIT.needsRoot]: 'needs_root',
  [EXIT.interrupted]: 'interrupted',
};

const SHOWN = new Set(['commander.help', 'commander.helpDisplayed', 'commander.version']);

/** Names in a command line are of the directory it is run in, which may have been deleted under its shell. */
function expected(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException)?.syscall !== 'uv_cwd') return error;
  return new CliError(
    'The directory that this was run in was deleted: change to another one (cd), and run it again.',
    EXIT.input,
  );
}

/** Returns commander's error as one line, with the nearest name or a pointer to help. */
function usageError({ code, message }: CommanderError, program: Command, args: readonly string[]): CliError | 'shown' {
  if (SHOWN.has(code)) return 'shown';
  const { command: named, names: command, rest: words } = commandOf(program, args);
  // The word of a group that has a command for no word: that one takes none.
  const [wrong] = code === 'commander.excessArguments' && named.commands.length > 0 ? words : [];
  if (wrong !== undefined) {
    const [meant] = nearest(
      wrong,
      named.commands.map((each) => each.name()).filter((name) => !isDestructive(name)),
      1,
    );
    const hint = meant === undefined ? `. See ${[...command, '--help'].join(' ')}` : `: did you mean '${meant}'?`;
    return new CliError(`unknown command '${visibleLine(wrong)}'${hint}`, EXIT.input);
  }
  const { sentence, names: near } = suggestionIn(message.replace(/^error: /, ''));
  const [first = ''] = sentence.split('\n');
  const [, unknown = ''] = code === 'commander.unknownOption' ? (/'(--[\w-]+)/.exec(first) ?? []) : [];
  const instead = INSTEAD[unknown];
  if (instead !== undefined) return new CliError(`${first}. ${instead}`, EXIT.input);
  const names = near.map((name) => `'${name}'`);
  if (names.length > 0) return new CliError(`${first}: did you mean ${names.join(' or ')}?`, EXIT.input);
  const elsewhere = code === 'commander.unknownCommand' && own(program, first);
  if (elsewhere) return new CliError(`${first}: did you mean '${program.name()} ${elsewhere}'?`, EXIT.input);
  return new CliError(`${first.replace(/\.$/, '')}. See ${[...command, '--help'].join(' ')}`, EXIT.input);
}

/** Returns the command of everyday use that has the verb of an unknown one: `rename` for `rename-peer`. */
function own(program: Command, sentence: string): string | undefined {
  const [, verb] = /'([a-z]+)-[\w-]+'/.exec(sentence) ?? [];
  return program.commands.map((command) => command.name()).find((name) => name === verb && !isDestructive(name));
}

/** Options that no command has, and how to say what people mean by them. */
const INSTEAD: Readonly<Record<string, string>> = {
  '--password':
    'A password is no option, because every user of this machine could read it: set MESH_PASSWORD, send it on standard input, or type it when you are asked.',
};

/** The command that the first words of a line name, as deep as they do. */
export function commandOf(
  program: Command,
  args: readonly string[],
): { command: Command; names: string[]; rest: string[] } {
  let command = program;
  const names = [program.name()];
  let at = 0;
  for (; at < args.length; at += 1) {
    const next = command.commands.find((child) => child.name() === args[at]);
    if (!next) break;
    command = next;
    names.push(next.name());
  }
  return { command, names, rest: args.slice(at) };
}
