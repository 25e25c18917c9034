import type { Argument, Command, Option } from 'commander';
import { callOperation } from './call-operation.ts';
import { commandOf } from './failure.ts';
import { LISTINGS, type Listing } from './lists.ts';
import { type TargetOptions, targetOf } from './session.ts';

/** A key press waits for no slow network. */
const TIMEOUT_MS = 1_000;
/** More would not be read. */
const MOST = 200;

interface Row {
  readonly id: string;
  readonly name?: string;
  readonly slug?: string;
  readonly status?: unknown;
}

/** No other is put into a command line: a shell could act on it, or read it as an option. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** The lists to request from the server, by the noun in the name of an argument, an option or a command. */
const LISTS: Readonly<Record<string, { of: keyof typeof LISTINGS; values?: object }>> = {
  peer: { of: 'peers' },
  policy: { of: 'policies' },
  network: { of: 'networks' },
  agent: { of: 'agents' },
  workspace: { of: 'workspaces' },
  workflow: { of: 'workflows', values: { status: 'pending' } },
  moment: { of: 'snapshots' },
};

/** Returns the completions of the last word of a command line: commands, options, and values that the server knows. */
export async function candidates(program: Command, words: readonly string[]): Promise<string[]> {
  const [last = '', before] = [words.at(-1), words.slice(0, -1)];
  const { command, names, rest } = commandOf(program, before);
  const found = await valuesAt(command, names, rest, last);
  return found.filter((candidate) => candidate.startsWith(last)).slice(0, MOST);
}

async function valuesAt(
  command: Command,
  names: readonly string[],
  rest: readonly string[],
  last: string,
): Promise<string[]> {
  const options = command.options.filter(({ hidden }) => !hidden);
  const open = options.find((option) => isValueOf(option, rest.at(-1)));
  if (open) return open.argChoices ?? listed(nounOfOption(open), rest, options);
  if (last.startsWith('-')) return options.flatMap(({ long }) => long ?? []);
  const subcommands = command.commands.map((child) => child.name()).filter((name) => !name.startsWith('_'));
  if (subcommands.length > 0) return subcommands;
  const given = positional(rest, options);
  const argument =
    command.registeredArguments[given] ?? command.registeredArguments.findLast(({ variadic }) => variadic);
  if (!argument) return [];
  return argument.argChoices ?? listed(nounsOf(argument, names), rest, options);
}

const isValueOf = (option: Option, word: string | undefined) =>
  (option.required || option.optional) && word !== undefined && (option.long === word || option.short === word);

/** How many arguments there are before the one that is being typed. */
function positional(rest: readonly string[], options: readonly Option[]): number {
  return rest.filter(
    (word, at) =>
      !word.startsWith('-') && !options.some((option) => option.required && isValueOf(option, rest[at - 1])),
  ).length;
}

function nounOfOption({ long }: Option): string[] {
  const name = long?.replace(/^--/, '') ?? '';
  return [NOUN_OF_OPTION[name] ?? name];
}

/** Options of orders that name peers or policies by another word. */
const NOUN_OF_OPTION: Readonly<Record<string, string>> = {
  'except-from': 'peer',
  'except-to': 'peer',
  through: 'policy',
};

/** `<peer>` and `<to-peer>` say it themselves; `<id>` is of what its command is about; A and B of `why` and `history` are peers. */
function nounsOf(argument: Argument, names: readonly string[]): string[] {
  const name = argument.name();
  const verb = names.at(-1) ?? '';
  if (verb === 'approve' || verb === 'reject') return ['workflow', 'peer'];
  if (verb === 'why' || verb === 'history') return ['peer'];
  const noun = (text: string) => text.split('-').at(-1) ?? '';
  return [noun(name === 'id' ? verb : name)];
}

/** Names that the server knows; none where it does not answer at once. */
async function listed(
  nouns: readonly string[],
  rest: readonly string[],
  options: readonly Option[],
): Promise<string[]> {
  const given = Object.fromEntries(
    options.flatMap((option) => {
      const at = rest.findIndex((word) => isValueOf(option, word));
      return at < 0 ? [] : [[option.attributeName(), rest[at + 1]]];
    }),
  ) as TargetOptions;
  const lists = nouns.flatMap((noun) => LISTS[noun] ?? []);
  const answers = await Promise.all(
    lists.map(async ({ of, values = {} }) => {
      const { list }: Listing = await LISTINGS[of]();
      const asked = callOperation(targetOf(given), list, { limit: MOST, ...values }, { timeoutMs: TIMEOUT_MS });
      return asked.catch(() => ({ items: [] }));
    }),
  );
  return answers
    .flatMap((answer) => (answer as { items: Row[] }).items.map(({ name, slug, id }) => name ?? slug ?? id))
    .filter((name) => PLAIN_NAME.test(name));
}
