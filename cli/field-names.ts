import type { Command } from 'commander';
import type { CliError } from './exit.ts';
import { flagOf } from './flag.ts';

/** Fields of operations that commands call otherwise; any other has the name of its option or argument. */
export const CALLED: Readonly<Record<string, readonly string[]>> = {
  approved_by: ['--approver'],
  earlier: ['<from>'],
  evidence_id: ['--id'],
  intent: ['<sentence>'],
  later: ['<to>'],
  period_end: ['--to'],
  period_start: ['--from'],
};

interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

/** Returns the field errors of a server's answer; none for any other failure. */
export function faultsIn({ problem }: CliError): readonly Fault[] {
  const { errors } = problem;
  return Array.isArray(errors) && errors.every(isFault) ? errors : [];
}

function isFault(value: unknown): value is Fault {
  const { pointer, detail } = (value ?? {}) as Partial<Record<keyof Fault, unknown>>;
  return typeof pointer === 'string' && typeof detail === 'string';
}

/** Why a command failed, with its own options and arguments in place of the fields that they are sent as. */
export function failureText(command: Command, error: CliError): string {
  const pointers = faultsIn(error)
    .map(({ pointer }) => pointer)
    .toSorted((a, b) => b.length - a.length);
  return pointers.reduce((text, pointer) => {
    const [, field = '', ...below] = pointer.split('/');
    const name = nameOf(command, field);
    const place = below.length > 0 ? ` (/${below.join('/')})` : '';
    return name === undefined ? text : text.replaceAll(`${pointer}: `, `${name}${place}: `);
  }, error.message);
}

/** Returns the option or argument of a command for a field; undefined where the command does not take it. */
export function nameOf(command: Command, field: string): string | undefined {
  const own = new Set([
    ...command.options.map(({ long }) => long),
    ...command.registeredArguments.map((argument) => `<${argument.name()}>`),
  ]);
  return [flagOf(field), `<${field}>`, ...(CALLED[field] ?? [])].find((name) => own.has(name));
}
