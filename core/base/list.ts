import { z } from 'zod';
import { MAX_FIELD_ERRORS } from './schema-errors.ts';

/** Returns the fault of a list as it was sent, if there is one. */
type Weigh = (entries: readonly unknown[]) => string | undefined;

interface BoundedListDef extends z.core.$ZodArrayDef {
  readonly weigh?: Weigh | undefined;
}

/** An array that is checked no further once one refusal is full: zod by itself collects every fault there is. */
const BoundedList = z.core.$constructor<z.ZodArray, BoundedListDef>('BoundedList', (inst, def) => {
  z.ZodArray.init(inst, def);
  const parse = inst._zod.parse;
  inst._zod.parse = (payload, context) => {
    const input: unknown = payload.value;
    // A value that is no list, or too long a one, is refused here before any entry is checked.
    if (!Array.isArray(input) || input.length > mostOf(def)) return parse(payload, context);
    const message = def.weigh?.(input);
    if (message !== undefined) {
      payload.issues.push({ code: 'custom', message, input, inst, continue: false });
      return payload;
    }
    const output: unknown[] = [];
    payload.value = output;
    for (const [index, value] of input.entries()) {
      const entry = def.element._zod.run({ value, issues: [] }, context);
      if (entry instanceof Promise) throw new z.core.$ZodAsyncError();
      output.push(entry.value);
      payload.issues.push(...z.core.util.prefixIssues(index, entry.issues));
      const last = payload.issues.at(-1);
      if (!last || payload.issues.length < MAX_FIELD_ERRORS) continue;
      // No later check may read a list of which a part is missing.
      payload.issues[payload.issues.length - 1] = { ...last, continue: false };
      break;
    }
    return payload;
  };
});

function mostOf({ checks = [] }: z.core.$ZodArrayDef): number {
  const limits = checks.map(({ _zod: { def } }) => (def as Partial<z.core.$ZodCheckMaxLengthDef>).maximum);
  return Math.min(...limits.map((limit) => limit ?? Number.POSITIVE_INFINITY));
}

/**
 * A list in a request, with at most `max` entries, which are counted before any is looked at.
 *
 * @param weigh says what is wrong with the whole list, before any entry is checked
 */
export function listOf<T extends z.ZodType>(entry: T, max: number, weigh?: Weigh): z.ZodArray<T> {
  return new BoundedList({ type: 'array', element: entry, weigh }).max(max) as unknown as z.ZodArray<T>;
}

/** Tells whether a schema was made by {@link listOf}. */
export function isBoundedList(schema: z.core.$ZodType): boolean {
  return schema._zod.traits.has('BoundedList');
}
