import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Option } from 'commander';
import { z } from 'zod';
import { type AnyOperation, fieldOf } from '../core/base/operation.ts';
import type { ApiRequest } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { flagOf, kebabOf } from './flag.ts';
import { isMomentField, MOMENT_FORMS, momentOf } from './moments.ts';

interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
}

/** A field of an operation's input, as an option or an argument of its command. */
export interface Field {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

/** The fields of an operation's input. */
export function fieldsOf(operation: AnyOperation<never>): Field[] {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, {
    io: 'input',
    unrepresentable: 'any',
  }) as JsonSchema;
  return Object.entries(properties).map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) }));
}

/** Returns the fields that the path names, in its order; they may be given without an option. */
export function pathFieldsOf(operation: AnyOperation<never>): string[] {
  const params = [...operation.http.path.matchAll(/:(\w+)/g)].map(([, param = '']) => fieldOf(operation, param));
  return params.filter((field) => field !== 'workspaceId');
}

/** Returns the values of these fields from the options of a command. */
export function valuesOf(
  fields: readonly Field[],
  options: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const value = options[camelOf(field.name)];
    if (value !== undefined) values[field.name] = typedValue(field, value);
  }
  return values;
}

const camelOf = (field: string) =>
  kebabOf(field).replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Help texts for fields without a description: the tool list of MCP has no room for more. */
const PLAIN_FIELDS: Readonly<Record<string, string>> = {
  snapshot_id: 'as in this snapshot (Pro)',
  network: 'name of a network',
};

export function optionOf({ name, schema, isRequired }: Field): Option {
  const isMoment = isMomentField(name, schema);
  const said = [schema.description ?? PLAIN_FIELDS[name], isMoment ? MOMENT_FORMS : undefined].filter(
    (text) => text !== undefined,
  );
  const option = new Option(
    `${flagOf(name)} ${isMoment ? '<moment>' : formOf(schema)}`,
    `${said.join('; ')}${isRequired ? ' (required)' : ''}`.trim(),
  );
  return schema.enum ? option.choices(schema.enum.map(String)) : option;
}

function formOf(schema: JsonSchema): string {
  if (schema.type === 'boolean') return '[true|false]';
  if (isWordMap(schema)) return '<key=value,...>';
  return isWordList(schema) ? '<a,b,...>' : `<${schema.type ?? 'value'}>`;
}

export function typedValue({ name: field, schema }: Pick<Field, 'name' | 'schema'>, value: unknown): unknown {
  const { type } = schema;
  if (typeof value !== 'string') return value;
  if (isMomentField(field, schema)) return momentOf(value, flagOf(field));
  if (type === 'string') return value;
  if (isWordList(schema)) return wordsOf(value);
  if (isWordMap(schema)) return parseJsonOr(value, undefined) ?? labelsOf(value, flagOf(field));
  if (type === undefined || type === 'object' || type === 'array') return parseJsonOr(value, value);
  const parsed = parseJsonOr(value, undefined);
  if (parsed === undefined) throw new CliError(`${flagOf(field)} takes a ${type}, not "${value}".`, EXIT.input);
  return parsed;
}

/** Returns true if a field is a list of plain words, or may be one. */
function isWordList({ type, items, anyOf = [] }: JsonSchema): boolean {
  return (type === 'array' && items?.type === 'string') || anyOf.some(isWordList);
}

/** Returns true if a field is a map of plain words: labels, annotations. */
function isWordMap({ type, additionalProperties }: JsonSchema): boolean {
  return type === 'object' && typeof additionalProperties === 'object' && additionalProperties.type === 'string';
}

/** `role=web,env=prod`. @throws CliError */
export function labelsOf(text: string, flag: string): Record<string, string> {
  const words = text.split(',').map((word) => word.trim());
  const entries = words
    .filter((word) => word !== '')
    .map((word): [string, string] => {
      const at = word.indexOf('=');
      if (at < 1) throw new CliError(`${flag} takes labels such as role=web,env=prod, not "${text}".`, EXIT.input);
      return [word.slice(0, at), word.slice(at + 1)];
    });
  return Object.fromEntries(entries);
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

export function parseJsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** JSON or YAML as text or `@file`. */
export async function bodyOf(given: string | undefined): Promise<string | undefined> {
  return given?.startsWith('@') ? await readText(given.slice(1)) : given;
}

/** A file; `-` is standard input, which may come late and in pieces. @throws CliError */
export async function readText(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${(error as Error).message}`, EXIT.input);
  }
}

/** Path fields go into the path; the rest is the query of a GET and the body of anything else. */
export function requestOf(
  operation: AnyOperation<never>,
  values: Readonly<Record<string, unknown>>,
  body: string | undefined,
  workspace: string | undefined,
): ApiRequest {
  const { http, access } = operation;
  const asked = { method: http.method, ...(access === 'public' && { anonymous: true as const }) };
  const rest: Record<string, unknown> = { ...values };
  const path = http.path.replaceAll(/:(\w+)/g, (_, param: string) => {
    const field = fieldOf(operation, param);
    const value = field === 'workspaceId' ? workspace : rest[field];
    delete rest[field];
    const flag = field === 'workspaceId' ? '--workspace' : flagOf(field);
    if (value === undefined) throw new CliError(`${flag} is required.`, EXIT.input);
    // An empty part of the path would be another operation.
    if (String(value).trim() === '')
      throw new CliError(`${flag} is empty: what was to give it named nothing.`, EXIT.input);
    return encodeURIComponent(String(value));
  });
  if (http.method === 'get') {
    const query = new URLSearchParams(
      Object.entries(rest).flatMap(([field, value]) =>
        [value].flat().map((each): [string, string] => [field, String(each)]),
      ),
    );
    return { ...asked, path: query.size > 0 ? `${path}?${query}` : path };
  }
  const parsed = body === undefined ? {} : parseJsonOr(body, undefined);
  if (parsed !== undefined) return { ...asked, path, body: { ...(parsed as object), ...rest } };
  if (!http.yamlField) throw new CliError('--body must be a JSON object.', EXIT.input);
  return { ...asked, path, body, contentType: 'application/yaml' };
}
