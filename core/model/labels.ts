import { lineOfText, mapOf, TEXT_LIMITS } from '../base/text.ts';

/** Labels on one record; more would be data, not labels. */
export const MAX_LABELS = 64;

const KEY = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^[A-Za-z0-9._-]{1,63}$/;

const KEY_ERROR = {
  error: 'a label key is 1 to 63 letters, digits, "-", "_" or ".", optionally after a "domain/" prefix',
};
const keyText = lineOfText(TEXT_LIMITS.labelKey);

/** A label key: up to 63 characters, optionally after a DNS prefix and a slash. */
export const labelKeySchema = keyText.regex(KEY, KEY_ERROR);

/** A label value: 1 to 63 characters. */
export const labelValueSchema = lineOfText(TEXT_LIMITS.name).regex(VALUE, {
  error: 'a label value is 1 to 63 letters, digits, "-", "_" or "."',
});

/** The labels of a record or of a `matchLabels`. Its JSON Schema leaves the pattern of keys out: tools are read by models. */
export const labelsSchema = mapOf(
  keyText.refine((key) => KEY.test(key), KEY_ERROR),
  labelValueSchema,
  MAX_LABELS,
  'labels',
);

/** Maximum changed labels that the text names; it counts the others. */
const MAX_LISTED = 4;

/**
 * Returns the difference between two sets of labels in words: each label that is set, with its earlier value, and each that is
 * removed.
 */
export function labelsChanged(was: Readonly<Record<string, string>>, is: Readonly<Record<string, string>>): string {
  const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((key) => was[key] !== is[key]).toSorted();
  const told = keys.slice(0, MAX_LISTED).map((key) => {
    if (is[key] === undefined) return `${key}=${was[key]} is taken away`;
    return `${key}=${is[key]} is set${was[key] === undefined ? '' : ` (was ${was[key]})`}`;
  });
  const more = keys.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}
