import { z } from 'zod';
import { isObject } from '../core/base/is-object.ts';
import { parseJson } from '../core/base/json-text.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';

type Json = Readonly<Record<string, unknown>>;

/** A function that returns the arguments that a caller of one tool gives. */
export type GivenArguments = (args: Json) => Json;

/** `workspace_id` stands beside the fields of a tool, where the caller has several workspaces. */
const WORKSPACE_ID = { type: 'string', minLength: 1 };

/**
 * Reads arguments as models send them. A client with strict function calling has its model fill every field, so a value that
 * an optional field does not take and that says nothing (`null`, `""`, `[]`) counts as not given, and in a read also an empty
 * text that the field takes. Below the fields of a tool only `null` does, in entries that are flat: a rule, a selector or a
 * port without one of its fields would mean more than was said. `"5432"`, `"true"` and `"tcp"` count as the number, the truth value and the word of the field, one
 * text or number as a list of one, and JSON text as its list or object. All else stays as it is, for the schema to judge.
 */
export function givenArguments(operation: AnyOperation<Services>): GivenArguments {
  const schema = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }) as Json;
  const defs = asObject(schema['$defs']);
  const isRead = operation.effects.readOnlyHint;
  const fields = { workspace_id: WORKSPACE_ID, ...asObject(schema['properties']) };
  return (args) => givenFields(args, { ...schema, properties: fields }, { defs, takesEmptyText: !isRead, depth: 0 });
}

interface Reading {
  readonly defs: Json;
  /** False where an empty text cannot mean that something is cleared. */
  readonly takesEmptyText: boolean;
  /** Objects around the value: 0 for a field of the tool. */
  readonly depth: number;
}

function givenFields(value: Json, schema: Json, reading: Reading): Json {
  const fields = asObject(schema['properties']);
  const required = new Set(asList(schema['required']));
  const isFillable = (each: unknown) =>
    reading.depth === 0 ? saysNothing(each) : reading.depth === 1 && each === null && isFlat(schema, reading.defs);
  const inside = { ...reading, depth: reading.depth + 1 };
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
      if (!Object.hasOwn(fields, name)) return [[name, each]];
      const forms = formsOf(fields[name], reading.defs);
      const isFiller = !required.has(name) && isFillable(each) && !takes(forms, each, reading);
      return isFiller ? [] : [[name, givenValue(each, forms, inside)]];
    }),
  );
}

function givenValue(value: unknown, forms: readonly Json[], reading: Reading): unknown {
  if (forms.some((form) => isOfType(value, form))) return givenInside(value, forms, reading);
  const list = forms.find(({ type }) => type === 'array');
  if (typeof value === 'string') {
    const read = readText(value, forms);
    if (read !== undefined) return givenInside(read, forms, reading);
  }
  if (!list || value === null || value === '' || Array.isArray(value) || isObject(value)) return value;
  return [givenValue(value, formsOf(list['items'], reading.defs), reading)];
}

/** Returns the value that a text stands for where the field takes no text; undefined where it stands for none. */
function readText(text: string, forms: readonly Json[]): unknown {
  const types = new Set(forms.map(({ type }) => type));
  if ((types.has('integer') || types.has('number')) && /^\d{1,15}$/.test(text)) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const opening = text.trimStart()[0];
  if ((opening === '[' && types.has('array')) || (opening === '{' && types.has('object'))) {
    try {
      return parseJson(text);
    } catch {
      return undefined;
    }
  }
  return undefined;
}

function givenInside(value: unknown, forms: readonly Json[], reading: Reading): unknown {
  if (Array.isArray(value)) {
    const items = formsOf(forms.find(({ type }) => type === 'array')?.['items'], reading.defs);
    return value.map((each) => givenValue(each, items, reading));
  }
  if (isObject(value)) {
    const objects = forms.filter(({ properties }) => properties !== undefined);
    // Among several forms, the value is one that it fits without its fillers.
    for (const form of objects) {
      const given = givenFields(value, form, reading);
      if (objects.length === 1 || fits(given, form)) return given;
    }
    return value;
  }
  return typeof value === 'string' ? wordOf(value, forms) : value;
}

/** Returns the word of a closed list in its own spelling. */
function wordOf(text: string, forms: readonly Json[]): string {
  const words = forms.flatMap((form) => (isText(form) ? asList(form['enum'] ?? [form['const']]) : []));
  if (words.length === 0 || words.includes(text)) return text;
  const lower = text.toLowerCase();
  return words.find((word): word is string => typeof word === 'string' && word.toLowerCase() === lower) ?? text;
}

function fits(value: Json, { properties, required }: Json): boolean {
  const fields = asObject(properties);
  const isConstant = ([name, each]: [string, unknown]) => {
    const constant = asObject(fields[name])['const'];
    return Object.hasOwn(fields, name) && (constant === undefined || constant === each);
  };
  return (
    Object.entries(value).every(isConstant) && asList(required).every((name) => Object.hasOwn(value, String(name)))
  );
}

/** Returns true if an object has texts, numbers, truth values and lists of them alone. */
function isFlat(schema: Json, defs: Json): boolean {
  const isPlain = ({ type, items }: Json) =>
    type === 'array'
      ? formsOf(items, defs).every((form) => form['type'] !== 'array' && form['type'] !== 'object')
      : type !== 'object';
  return Object.values(asObject(schema['properties'])).every((field) => formsOf(field, defs).every(isPlain));
}

function saysNothing(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Returns true if a field takes a value that says nothing elsewhere: it has a meaning of its own there. */
function takes(forms: readonly Json[], value: unknown, { takesEmptyText }: Reading): boolean {
  return forms.some((form) => {
    if (value === null) return form['type'] === 'null';
    if (Array.isArray(value)) return form['type'] === 'array' && !form['minItems'];
    return takesEmptyText && isText(form) && TEXT_BOUNDS.every((bound) => !form[bound]);
  });
}

/** A text of a field with one of these is never empty. */
const TEXT_BOUNDS = ['minLength', 'pattern', 'enum', 'const'];

function isText({ type, const: constant }: Json): boolean {
  return type === 'string' || typeof constant === 'string';
}

function isOfType(value: unknown, form: Json): boolean {
  const { type } = form;
  if (typeof value === 'string') return isText(form);
  if (typeof value === 'number') return type === 'number' || type === 'integer';
  if (Array.isArray(value)) return type === 'array';
  return value === null ? type === 'null' : typeof value === type;
}

/** Returns the forms that a field may have, with references resolved. A reference to itself ends with its type. */
function formsOf(schema: unknown, defs: Json, depth = 0): readonly Json[] {
  const form = asObject(schema);
  const { $ref, anyOf, oneOf } = form;
  if (depth > MAX_NESTING) return [];
  if (typeof $ref === 'string') return formsOf(defs[$ref.slice($ref.lastIndexOf('/') + 1)], defs, depth + 1);
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) return branches.flatMap((branch) => formsOf(branch, defs, depth + 1));
  return Array.isArray(form['type']) ? form['type'].map((type) => ({ ...form, type })) : [form];
}

/** Most references and alternatives within each other; schemas have three. */
const MAX_NESTING = 8;

function asObject(value: unknown): Json {
  return isObject(value) ? value : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
