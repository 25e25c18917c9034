import type { Command } from 'commander';
import { type AnyOperation, takesAway } from '../core/base/operation.ts';
import { operations } from '../tools/index.ts';
import { type Answer, answering, notice, OUTPUT_FLAGS } from './answer.ts';
import { callOperation } from './call-operation.ts';
import type { CommandContext } from './command-context.ts';
import { CliError, EXIT } from './exit.ts';
import { exitOf } from './failed.ts';
import { flagOf } from './flag.ts';
import { bodyOf, type Field, fieldsOf, optionOf, pathFieldsOf, typedValue, valuesOf } from './operation-options.ts';
import { noticePending } from './pending-approval.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';
import { variable } from './variable.ts';

/** `mesh admin <operation>`: one command for each operation, its options taken from the input schema. */
export function defineAdmin(admin: Command, { words }: CommandContext): void {
  for (const [title, subjects] of Object.entries(GROUPS)) {
    admin.commandsGroup(`${title}:`);
    for (const operation of operations.filter((each) => subjects.includes(subjectOf(each)))) {
      const name = operation.name.replaceAll('_', '-');
      const command = admin.command(name).description(operation.description).summary(operation.title);
      // To make options of its schema takes longer than to name it.
      if (words.includes(name)) define(command, operation);
    }
  }
}

/** Subjects of operations under the titles that help lists them by; a test finds an operation of any other. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Peers and networks': ['peers', 'networks', 'paths'],
  'Policies and connectivity': ['policies', 'policy-lint', 'assertions', 'connectivity', 'overview'],
  'Plans and approvals': ['intent', 'workflows'],
  Files: ['apply', 'export'],
  History: ['changes', 'snapshots', 'find-cause'],
  'Join tokens': ['token', 'tokens'],
  Agents: ['agents', 'oauth'],
  'Accounts, sessions and API tokens': ['users'],
  'Workspaces and members': ['workspaces', 'members'],
  'Audit log': ['audit'],
  Compliance: ['compliance'],
  Webhooks: ['webhooks'],
  'Devices, as nodes call them': ['devices', 'discovery'],
};

/** Returns what an operation is about, by its path: `members` of `/workspaces/:workspaceId/members`. */
function subjectOf({ http }: AnyOperation<never>): string {
  const [first = '', second] = http.path
    .replace('/api/v1/', '')
    .split('/')
    .filter((part) => !part.startsWith(':'));
  const isWithin = first === 'ai' || (first === 'workspaces' && second !== 'add');
  return isWithin ? (second ?? first) : first;
}

const isPassword = (field: string) => /password$/i.test(field);

type AdminOptions = TargetOptions &
  Readonly<Record<string, unknown>> & { readonly body?: string; readonly installation?: boolean };

function define(command: Command, operation: AnyOperation<never>): void {
  withTarget(command);
  const taken = new Set([...command.options.map(({ long }) => long), ...OUTPUT_FLAGS]);
  // The token that a device enrols with is the bearer itself, so --token says it already.
  const fields = fieldsOf(operation).filter((field) => !taken.has(flagOf(field.name)));
  const inPath = pathFieldsOf(operation);
  // The operations on a workspace itself name nothing else.
  const isOfWorkspace = operation.http.path.endsWith('/:workspaceId');
  if (isOfWorkspace) command.argument('[workspace]', 'in place of --workspace');
  for (const name of inPath) command.argument(`[${name}]`, `in place of ${flagOf(name)}`);
  for (const field of fields) command.addOption(optionOf(field));
  if (operation.orInstallation) command.option('--installation', 'of the installation, in place of a workspace');
  command.option(
    '--body <json|@file>',
    'more fields as one JSON object, or a YAML document where the operation takes one',
  );
  answering(command, async (...args: unknown[]): Promise<Answer> => {
    const workspace = isOfWorkspace ? (args.shift() as string | undefined) : undefined;
    const given = args[inPath.length] as AdminOptions;
    const options = workspace === undefined ? given : { ...given, workspace };
    // Whatever the session goes by, what is removed is named.
    if (isOfWorkspace && takesAway(operation) && !(options.workspace ?? variable('MESH_WORKSPACE'))) {
      throw new CliError('--workspace is required.', EXIT.input);
    }
    const values = valuesOf(fields, options);
    for (const name of Object.keys(values).filter(isPassword)) {
      notice(
        `${flagOf(name)} shows the password to everyone who lists processes, and the next release refuses it. ` +
          'Send it in a file (--body @FILE) or on standard input (--body @-), as {"' +
          `${name}": "…"}.`,
      );
    }
    for (const [at, name] of inPath.entries()) {
      const field = fields.find((each) => each.name === name);
      if (field && args[at] !== undefined) values[name] = typedValue(field, args[at]);
    }
    if (options.body === undefined) requireAll(fields, values);
    const value = await callOperation(targetOf(options), operation, values, {
      body: await bodyOf(options.body),
      ofInstallation: options.installation,
    });
    noticePending(value);
    // To read of a failure is none.
    return { value, columns: operation.columns, ...(!operation.effects.readOnlyHint && exitOf(value)) };
  });
}

/** @throws CliError that names the options that a call cannot be without */
function requireAll(fields: readonly Field[], values: Readonly<Record<string, unknown>>): void {
  const missing = fields.filter(({ name, isRequired }) => isRequired && values[name] === undefined);
  if (missing.length === 0) return;
  const flags = missing.map(({ name }) => flagOf(name));
  throw new CliError(`${flags.join(' and ')} ${flags.length === 1 ? 'is' : 'are'} required.`, EXIT.input);
}
