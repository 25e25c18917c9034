import { parseInstant } from './time.ts';

/**
 * Checks of what came from outside, for what a node takes: it idles on small machines, and zod with its languages holds
 * 18 MB. A shape answers the value in its exact form, without the fields it does not know.
 *
 * @throws Mismatch
 */
export interface Shape<T> {
  (value: unknown): T;
  /** The accepted form, for code that describes it to others. */
  readonly form: Form;
}

/** The kind of a value, without what is asked of its parts. */
export type Form = { readonly description?: string; readonly name?: string } & (
  | { readonly kind: 'any' | 'text' | 'integer' }
  | { readonly kind: 'one-of'; readonly texts: readonly string[] }
  | { readonly kind: 'nullable' | 'list'; readonly of: Form }
  | { readonly kind: 'object'; readonly required: FormFields; readonly optional: FormFields }
);
type FormFields = Readonly<Record<string, Form>>;

/** The type of the values that a shape accepts. */
export type Infer<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type OfFields<F extends Fields> = { readonly [K in keyof F]: Infer<F[K]> };
type OfObject<R extends Fields, O extends Fields> = OfFields<R> & Partial<OfFields<O>>;

/** A value has another shape than expected; `path` leads to it, and is empty for the value as a whole. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
  readonly path: readonly string[];

  constructor(path: readonly string[] = []) {
    super(`unexpected value at ${path.join('.') || 'the top'}`);
    this.path = path;
  }
}

export const anything: Shape<unknown> = shapeOf({ kind: 'any' }, (value) => value);

/** A text of at most `max` characters for which `isSo` holds, or that has the form. */
export function text(max: number, form: RegExp | ((text: string) => boolean) = () => true): Shape<string> {
  const isSo = form instanceof RegExp ? (value: string) => form.test(value) : form;
  return shapeOf({ kind: 'text' }, (value) => {
    if (typeof value === 'string' && value.length <= max && isSo(value)) return value;
    throw new Mismatch();
  });
}

/** An integer that a number holds exactly. */
export function integer(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): Shape<number> {
  return shapeOf({ kind: 'integer' }, (value) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    throw new Mismatch();
  });
}

/** Accepts any of these texts. */
export function oneOf<const T extends readonly string[]>(...texts: T): Shape<T[number]> {
  const known = new Set<unknown>(texts);
  return shapeOf({ kind: 'one-of', texts }, (value) => {
    if (known.has(value)) return value as T[number];
    throw new Mismatch();
  });
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return shapeOf({ kind: 'nullable', of: shape.form }, (value) => (value === null ? null : shape(value)));
}

export function list<T>(shape: Shape<T>, max: number): Shape<readonly T[]> {
  return shapeOf({ kind: 'list', of: shape.form }, (value) => {
    if (!Array.isArray(value) || value.length > max) throw new Mismatch();
    return value.map((entry, at) => below(`${at}`, shape, entry));
  });
}

/** An object with these fields; those in `optional` may be absent. */
export function object<R extends Fields, O extends Fields = Record<never, never>>(
  required: R,
  optional?: O,
): Shape<OfObject<R, O>> {
  const all = Object.entries({ ...optional, ...required });
  const form: Form = { kind: 'object', required: formsOf(required), optional: formsOf(optional ?? {}) };
  return shapeOf(form, (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Mismatch();
    const answer: Record<string, unknown> = {};
    for (const [name, shape] of all) {
      const field = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
      if (field !== undefined || Object.hasOwn(required, name)) answer[name] = below(name, shape, field);
    }
    return answer as OfObject<R, O>;
  });
}

/** A shape and a condition between its parts. */
export function where<T>(shape: Shape<T>, isSo: (value: T) => boolean): Shape<T> {
  return shapeOf(shape.form, (value) => {
    const answer = shape(value);
    if (isSo(answer)) return answer;
    throw new Mismatch();
  });
}

/** An object without any field that its shape does not know. */
export function exact<T extends object>(shape: Shape<T>): Shape<T> {
  return shapeOf(shape.form, (value) => {
    const answer = shape(value);
    if (Object.keys(answer).length === Object.keys(value as object).length) return answer;
    throw new Mismatch();
  });
}

/** ISO 8601 in UTC, as all instants are written. */
export const instant: Shape<string> = text(
  40,
  (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) && !Number.isNaN(parseInstant(value)),
);

/** The value that a JSON text holds. */
export function json<T>(shape: Shape<T>): Shape<T> {
  return shapeOf({ kind: 'text' }, (value) => {
    let held: unknown;
    try {
      held = JSON.parse(String(value));
    } catch {
      throw new Mismatch();
    }
    return shape(held);
  });
}

/** A shape and what it says of itself to others. */
export function described<T>(shape: Shape<T>, description: string): Shape<T> {
  return shapeOf({ ...shape.form, description }, (value) => shape(value));
}

/** A shape and what documents for others call it. */
export function named<T>(shape: Shape<T>, name: string): Shape<T> {
  return shapeOf({ ...shape.form, name }, (value) => shape(value));
}

/** A shape of its own making. @param form what it takes */
export function shapeOf<T>(form: Form, check: (value: unknown) => T): Shape<T> {
  return Object.assign(check, { form });
}

/** As the shape answers; undefined in place of a mismatch. */
export function ifIs<T>(shape: Shape<T>, value: unknown): T | undefined {
  try {
    return shape(value);
  } catch (error) {
    if (error instanceof Mismatch) return undefined;
    throw error;
  }
}

function formsOf(fields: Fields): FormFields {
  return Object.fromEntries(Object.entries(fields).map(([name, { form }]) => [name, form]));
}

function below<T>(name: string, shape: Shape<T>, value: unknown): T {
  try {
    return shape(value);
  } catch (error) {
    throw error instanceof Mismatch ? new Mismatch([name, ...error.path]) : error;
  }
}
