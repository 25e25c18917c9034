import { lineOfText, mapOf, TEXT_LIMITS } from '../base/text.ts';

/** Labels on one record; more would be data, not labels. */
export const MAX_LABELS = 64;

const KEY = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^[A-Za-z0-9._-]{1,63}$/;

/** A label key: up to 63 characters, optionally after a DNS prefix and a slash. */
export const labelKeySchema = lineOfText(TEXT_LIMITS.labelKey).regex(KEY, {
  error: 'a label key is 1 to 63 letters, digits, "-", "_" or ".", optionally after a "domain/" prefix',
});

/** A label value: 1 to 63 characters. */
export const labelValueSchema = lineOfText(TEXT_LIMITS.name).regex(VALUE, {
  error: 'a label value is 1 to 63 letters, digits, "-", "_" or "."',
});

/** The labels of a record or of a `matchLabels`. A wrong key is named by its path. */
export const labelsSchema = mapOf(lineOfText(TEXT_LIMITS.labelKey), labelValueSchema, MAX_LABELS, 'labels').superRefine(
  (labels, context) => {
    for (const key of Object.keys(labels)) {
      const checked = labelKeySchema.safeParse(key);
      if (!checked.success) {
        const [issue] = checked.error.issues;
        context.addIssue({ code: 'custom', path: [key], message: issue?.message ?? 'a label key is malformed' });
      }
    }
  },
);
