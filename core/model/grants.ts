import { createHash } from 'node:crypto';
import { formatDuration } from '../base/duration.ts';
import { ordered } from '../base/ordered.ts';
import type { RecordDraft } from '../base/record.ts';
import { DURATION_FIELDS, type FieldRole, RECORD_FIELDS } from '../base/record-fields.ts';
import { sameValue } from './value.ts';

/** The fields of a record that have some role, by name. */
export type FieldValues = Readonly<Record<string, unknown>>;

/** Returns the fields of a record that give access or the right to decide. Fields that are absent or empty give nothing. */
export function grantsOf(draft: Pick<RecordDraft, 'kind' | 'labels' | 'spec'>): FieldValues {
  return Object.fromEntries(Object.entries(fieldsOf(draft, ['grants'])).filter(([, value]) => !isEmpty(value)));
}

/** As {@link grantsOf}, with what bounds them, in plain text for people who review them. */
export function grantTexts(draft: Pick<RecordDraft, 'kind' | 'labels' | 'spec'>): Readonly<Record<string, string>> {
  const fields = Object.entries(fieldsOf(draft, ['grants', 'limits'])).filter(([, value]) => !isEmpty(value));
  return Object.fromEntries(
    fields.map(([field, value]) => [
      snakeCase(field),
      typeof value === 'number' && DURATION_FIELDS.has(field) ? formatDuration(value) : textOf(value),
    ]),
  );
}

/** Returns the names of the fields with which a change of a record gives or takes access, or changes whose it is. */
export function changedGrants(before: RecordDraft, after: RecordDraft): string[] {
  const [was, is] = [before, after].map((draft) => fieldsOf(draft, ['grants', 'limits', 'binds', 'expires']));
  const names = new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})]);
  return [...names].filter((name) => !sameValue(was?.[name], is?.[name]));
}

/**
 * Returns what a person decides on when they let a call write a record, peers by their ids. A value that each attempt
 * makes anew, such as a secret or the instant of an expiry, is not among it.
 */
export function decidedFields(draft: RecordDraft): FieldValues | null {
  if (RECORD_FIELDS[draft.kind] === 'nothing') return null;
  return fieldsOf(draft, ['grants', 'limits', 'binds', 'phase', 'setting']);
}

/** In the order of the declarations. Absent fields are left out, so that a field added later changes nothing for records without it. */
function fieldsOf(
  { kind, labels, spec, status }: Pick<RecordDraft, 'kind' | 'labels' | 'spec'> & Partial<Pick<RecordDraft, 'status'>>,
  roles: readonly FieldRole[],
): FieldValues {
  const fields = RECORD_FIELDS[kind];
  if (fields === 'nothing') return {};
  const of = (values: object, declared: Readonly<Record<string, FieldRole>>) => {
    const known = new Map<string, unknown>(Object.entries(values));
    return Object.entries(declared).flatMap(([name, role]) => {
      const value = known.get(name);
      return roles.includes(role) && value !== undefined ? [[name, value] as const] : [];
    });
  };
  const own = roles.includes(fields.labels) ? [['labels', labels] as const] : [];
  return Object.fromEntries([...own, ...of(spec, fields.spec), ...of(status ?? {}, fields.status)]);
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

/** Characters of rules as JSON; more of them are counted and named by their digest. */
const MAX_RULES_TEXT = 200;

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.every(([, item]) => typeof item !== 'object')) {
    return entries
      .map(([key, item]) => (isList ? String(item) : `${key}=${item}`))
      .toSorted()
      .join(', ');
  }
  const text = JSON.stringify(ordered(value));
  if (text.length <= MAX_RULES_TEXT) return text;
  return `${entries.length} rules (SHA-256 ${createHash('sha256').update(text).digest('hex').slice(0, 16)})`;
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
