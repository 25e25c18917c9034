import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { type AnyOperation, fieldOf } from '../../core/operation.ts';
import type { ApiRequest } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { print } from './print.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { callInWorkspace, existingWorkspace } from './workspace.ts';

interface JsonSchema {
  readonly type?: string;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** `mesh admin <operation>`: one command for each operation, its options taken from the input schema. */
export function addAdminCommands(program: Command, operations: readonly AnyOperation<never>[]): void {
  const admin = program.command('admin').description('call any operation of the control plane');
  for (const operation of operations) addOperation(admin, operation);
}

function addOperation(admin: Command, operation: AnyOperation<never>): void {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, {
    io: 'input',
    unrepresentable: 'any',
  }) as JsonSchema;
  const command = withTarget(admin.command(operation.name.replaceAll('_', '-')).description(operation.description));
  const taken = new Set(command.options.map(({ long }) => long));
  // The token that a device enrols with is the bearer itself, so --token says it already.
  const fields = Object.entries(properties).filter(([field]) => !taken.has(flagOf(field)));
  for (const [field, schema] of fields) command.addOption(optionOf(field, schema, required.includes(field)));
  command.option(
    '--body <json|@file>',
    'more fields as one JSON object, or a YAML document where the operation takes one',
  );
  command.action(async (options: Record<string, unknown> & TargetOptions & { body?: string; json?: boolean }) => {
    const values: Record<string, unknown> = {};
    for (const [field, schema] of fields) {
      const value = options[camelOf(field)];
      if (value !== undefined) values[field] = typedValue(field, schema, value);
    }
    const target = targetOf(options);
    requireTokenFor(operation, target);
    const workspace = target.workspace ?? (isInWorkspacePath(operation) ? await existingWorkspace(target) : undefined);
    const request = requestOf(operation, values, bodyOf(options.body), workspace);
    const answer = await callInWorkspace(target, request);
    print(answer, options.json === true);
  });
}

/** Whether the path names the workspace. One that is to be deleted is never found, but named by who deletes it. */
function isInWorkspacePath({ http }: AnyOperation<never>): boolean {
  return http.path.includes('/:workspaceId') && !(http.method === 'delete' && http.path.endsWith('/:workspaceId'));
}

/** Devices have tokens of their own: a session is none. */
function requireTokenFor({ access }: AnyOperation<never>, { token }: Target): void {
  if (token || (access !== 'device' && access !== 'enrolment')) return;
  throw new CliError('Give --token with the token of the device or the join token, or set MESH_TOKEN.', EXIT.auth);
}

/** The options that name a control plane; the same on every command that calls one. */
export function withTarget(command: Command): Command {
  return command
    .option('--server <url>', 'address of the control plane (MESH_SERVER)')
    .option('--token <token>', 'bearer token, or @file (MESH_TOKEN)')
    .option('--workspace <id>', 'workspace id or slug (MESH_WORKSPACE)')
    .option('--json', 'print the answer as JSON');
}

const flagOf = (field: string) => `--${kebabOf(field)}`;
const kebabOf = (field: string) =>
  field.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const camelOf = (field: string) =>
  kebabOf(field).replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function optionOf(field: string, schema: JsonSchema, mandatory: boolean): Option {
  const takes = isWordList(schema) ? '<a,b,...>' : `<${schema.type ?? 'value'}>`;
  const flag = `${flagOf(field)} ${schema.type === 'boolean' ? '[true|false]' : takes}`;
  const option = new Option(flag, `${schema.description ?? ''}${mandatory ? ' (required)' : ''}`.trim());
  return schema.enum ? option.choices(schema.enum.map(String)) : option;
}

function typedValue(field: string, schema: JsonSchema, value: unknown): unknown {
  const { type } = schema;
  if (type === 'string' || typeof value !== 'string') return value;
  if (isWordList(schema)) return wordsOf(value);
  if (type === undefined || type === 'object' || type === 'array') return parseJsonOr(value, value);
  const parsed = parseJsonOr(value, undefined);
  if (parsed === undefined) throw new CliError(`${flagOf(field)} takes a ${type}, not "${value}".`, EXIT.input);
  return parsed;
}

/** Whether a field is a list of plain words, or may be one. */
function isWordList({ type, items, anyOf = [] }: JsonSchema): boolean {
  return (type === 'array' && items?.type === 'string') || anyOf.some(isWordList);
}

/** A list as JSON, or its plain words with commas between them. */
function wordsOf(text: string): unknown {
  const parsed = parseJsonOr(text, undefined);
  if (Array.isArray(parsed) || parsed === null) return parsed;
  const words = text.split(',').map((word) => word.trim());
  // A sentence with a comma in it is one entry.
  return words.every((word) => PLAIN_WORD.test(word)) ? words : [text];
}

const PLAIN_WORD = /^[\w:.*@/-]+$/;

function parseJsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

function bodyOf(given: string | undefined): string | undefined {
  if (!given?.startsWith('@')) return given;
  try {
    return readFileSync(given === '@-' ? 0 : given.slice(1), 'utf8');
  } catch (error) {
    throw new CliError(`Cannot read ${given.slice(1)}: ${(error as Error).message}`, EXIT.input);
  }
}

/** Path fields go into the path; the rest is the query of a GET and the body of anything else. */
function requestOf(
  operation: AnyOperation<never>,
  values: Record<string, unknown>,
  body: string | undefined,
  workspace: string | undefined,
): ApiRequest {
  const { http, access } = operation;
  const asked = { method: http.method, ...(access === 'public' && { anonymous: true as const }) };
  const rest = { ...values };
  const path = http.path.replaceAll(/:(\w+)/g, (_, param: string) => {
    const field = fieldOf(operation, param);
    const value = field === 'workspaceId' ? workspace : rest[field];
    delete rest[field];
    const flag = field === 'workspaceId' ? '--workspace' : flagOf(field);
    if (value === undefined) throw new CliError(`${flag} is required.`, EXIT.input);
    return encodeURIComponent(String(value));
  });
  if (http.method === 'get') {
    const query = new URLSearchParams(
      Object.entries(rest).map(([field, value]): [string, string] => [field, String(value)]),
    );
    return { ...asked, path: query.size > 0 ? `${path}?${query}` : path };
  }
  const parsed = body === undefined ? {} : parseJsonOr(body, undefined);
  if (parsed !== undefined) return { ...asked, path, body: { ...(parsed as object), ...rest } };
  if (!http.yamlField) throw new CliError('--body must be a JSON object.', EXIT.input);
  return { ...asked, path, body, contentType: 'application/yaml' };
}
