import { formatDuration } from './duration.ts';
import { ordered } from './ordered.ts';
import type { Change, FieldChange } from './ports.ts';
import { KINDS } from './record.ts';
import { DURATION_FIELDS, type FieldRole, RECORD_FIELDS } from './record-fields.ts';
import { formatInstant } from './time.ts';

/** Characters of a value; of a longer one the begin is told. */
const MAX_TEXT = 200;
const MAX_FIELDS = 50;
const ELLIPSIS = '…';

/** The roles that are told of a record that is new or gone; what identifies it stands in the entry itself. */
const OF_NEW: ReadonlySet<FieldRole> = new Set(['grants', 'limits', 'binds', 'expires', 'setting']);
const OF_GONE: ReadonlySet<FieldRole> = new Set(['grants', 'limits', 'binds']);
/** Counters and what follows from others say nothing of what anybody decided. */
const OF_CHANGED: ReadonlySet<FieldRole> = new Set([...OF_NEW, 'phase', 'identifies', 'text', 'secret', 'personal']);
/** Roles of fields that the log names without their values. */
const WITHOUT_VALUE: ReadonlySet<FieldRole> = new Set(['secret', 'personal']);

/**
 * Returns which fields a change gave which values, for the audit log: nothing else keeps what a record of a kind without history
 * held. What is told of a field follows from its role in `RECORD_FIELDS`.
 */
export function fieldChanges({
  type,
  record,
  before,
}: Pick<Change, 'type' | 'record' | 'before'>): readonly FieldChange[] {
  const fields = RECORD_FIELDS[record.kind];
  if (fields === 'nothing' || KINDS[record.kind].history) return [];
  const told = { created: OF_NEW, updated: OF_CHANGED, deleted: OF_GONE }[type];
  const [was, is] = [type === 'created' ? undefined : before, type === 'deleted' ? undefined : record];
  const parts: readonly (readonly [Readonly<Record<string, FieldRole>>, (side: Side) => object | undefined])[] = [
    [{ labels: fields.labels }, (side) => side && { labels: side.labels }],
    [fields.spec, (side) => side?.spec],
    [fields.status, (side) => side?.status],
  ];
  const changes = parts.flatMap(([roles, partOf]) =>
    Object.entries(roles).flatMap(([name, role]) => {
      if (!told.has(role)) return [];
      const values = [was, is].map((side) => (partOf(side) as Part | undefined)?.[name]);
      return WITHOUT_VALUE.has(role) ? secretChange(name, values) : changesIn(name, role, values);
    }),
  );
  const left = changes.length - MAX_FIELDS;
  return left > 0 ? [...changes.slice(0, MAX_FIELDS), { field: `${left} more fields`, isSecret: true }] : changes;
}

/** Returns a change as people read it: `requireApproval: off → on`. */
export function fieldChangeText({ field, from, to, isSecret }: FieldChange): string {
  return isSecret ? `${field}: changed` : `${field}: ${from ?? 'unset'} → ${to ?? 'unset'}`;
}

type Part = Readonly<Record<string, unknown>>;
type Side = { readonly labels: object; readonly spec: object; readonly status: object } | undefined;

/** Metadata of a secret, such as its last use, does not count as a change of the secret. */
function secretChange(field: string, values: readonly unknown[]): FieldChange[] {
  const [was, is] = values.map((value) =>
    JSON.stringify(ordered(isPart(value) && 'secret' in value ? value['secret'] : value)),
  );
  return was === is ? [] : [{ field, isSecret: true }];
}

function changesIn(name: string, role: FieldRole, values: readonly unknown[]): FieldChange[] {
  // The field that holds all settings is no part of the name of one.
  const [was, is] = values.map((value) => new Map(leavesOf(value, name === 'settings' ? '' : name)));
  const fields = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])]);
  return [...fields].flatMap((field) => {
    const [from, to] = [was, is].map((leaves) => leaves?.get(field));
    if (JSON.stringify(ordered(from)) === JSON.stringify(ordered(to))) return [];
    return [{ field, ...said('from', from, field, role), ...said('to', to, field, role) }];
  });
}

function leavesOf(value: unknown, path: string): [string, unknown][] {
  if (value === undefined || value === null) return [];
  if (!isPart(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, path === '' ? key : `${path}.${key}`));
}

function said<S extends 'from' | 'to'>(side: S, value: unknown, field: string, role: FieldRole): { [K in S]?: string } {
  return value === undefined ? {} : ({ [side]: textOf(value, field, role) } as { [K in S]?: string });
}

function textOf(value: unknown, field: string, role: FieldRole): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') {
    if (DURATION_FIELDS.has(field)) return formatDuration(value);
    return role === 'expires' ? formatInstant(value) : String(value);
  }
  if (typeof value === 'string') return cut(withoutSecretPath(value) || '""');
  if (!Array.isArray(value)) return cut(JSON.stringify(value));
  if (value.length === 0) return 'none';
  return cut(value.map((item) => (typeof item === 'object' ? JSON.stringify(ordered(item)) : String(item))).join(', '));
}

/** Whoever has the whole address of a receiver may often write to it: its path and its query are its password. */
function withoutSecretPath(text: string): string {
  const url = /^https?:/.test(text) ? URL.parse(text) : null;
  return url ? `${url.origin}/${ELLIPSIS}` : text;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}${ELLIPSIS}`;
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
