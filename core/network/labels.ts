import { z } from 'zod';

/** Labels on one record; more would be data, not labels. */
export const MAX_LABELS = 64;

const KEY = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^[A-Za-z0-9._-]{1,63}$/;

/** A label key: up to 63 characters, optionally after a DNS prefix and a slash. */
export const labelKeySchema = z.string().regex(KEY, {
  error: 'a label key is 1 to 63 letters, digits, "-", "_" or ".", optionally after a "domain/" prefix',
});

/** A label value: 1 to 63 characters. */
export const labelValueSchema = z.string().regex(VALUE, {
  error: 'a label value is 1 to 63 letters, digits, "-", "_" or "."',
});

/** The labels of a record or of a `matchLabels`. A wrong key is named by its path. */
export const labelsSchema = z.record(z.string(), labelValueSchema).superRefine((labels, context) => {
  const keys = Object.keys(labels);
  if (keys.length > MAX_LABELS) {
    context.addIssue({ code: 'custom', message: `at most ${MAX_LABELS} labels are accepted` });
  }
  for (const key of keys) {
    const checked = labelKeySchema.safeParse(key);
    if (!checked.success) {
      const [issue] = checked.error.issues;
      context.addIssue({ code: 'custom', path: [key], message: issue?.message ?? 'a label key is malformed' });
    }
  }
});
