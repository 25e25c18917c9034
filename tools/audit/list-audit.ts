import { z } from 'zod';
import { ACTOR_FIELD } from '../../core/base/actor.ts';
import { fieldChangeText } from '../../core/base/field-changes.ts';
import { jsonValue } from '../../core/base/json-value.ts';
import { READ } from '../../core/base/operation.ts';
import type { AuditEntry } from '../../core/base/ports.ts';
import { KINDS, type Kind } from '../../core/base/record.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant, parseInstant } from '../../core/base/time.ts';
import { readableActors } from '../../core/identity/audit-reach.ts';
import { defineOperation } from '../define.ts';
import { fitting, pageQuery } from '../page.ts';
import { instant } from '../snapshots/snapshot-fields.ts';

const kinds = Object.keys(KINDS) as [Kind, ...Kind[]];

const auditEntrySchema = z.strictObject({
  seq: z.int(),
  at: z.string(),
  type: z.enum(['commit', 'event']),
  actor: z.string(),
  requestId: z.string().nullable(),
  reason: z.string().optional().describe('Why it was written; of a refusal, why it was refused'),
  /** The fields of a commit. */
  revision: z.int().optional(),
  direct: z.boolean().optional().describe('Written by an operator without an approval workflow'),
  approval: z.strictObject({ workflowId: z.string(), reviewedBy: z.string() }).optional(),
  changes: z
    .array(
      z.strictObject({
        type: z.enum(['created', 'updated', 'deleted']),
        kind: z.enum(kinds),
        name: z.string(),
        uid: z.string(),
        digest: z.string().optional().describe('SHA-256 of the record as it is stored; a deletion has none'),
      }),
    )
    .optional(),
  fields: z
    .array(
      z.strictObject({
        kind: z.enum(kinds),
        name: z.string(),
        field: z.string().describe('a field inside another by its path, such as compliance.secondPerson'),
        from: z.string().optional().describe('absent where there was none, and of a secret'),
        to: z.string().optional().describe('absent where there is none any more, and of a secret'),
        text: z.string().describe('such as requireApproval: off → on; of a secret only that it changed'),
      }),
    )
    .optional()
    .describe(
      'What changed in records of which no history is kept: settings of workspaces, accounts, members, tokens, webhooks. Entries of earlier versions have none',
    ),
  /** The fields of a security event. */
  event: z.string().optional(),
  result: z.enum(['ok', 'refused']).optional(),
  origin: z.string().optional(),
  detail: z.record(z.string(), jsonValue).optional(),
});

export const listAudit = defineOperation({
  name: 'list_audit',
  title: 'List the audit log',
  description:
    'Every change and every security event of the workspace, newest first: who, why, when, and which approval. A platform administrator who names no workspace reads the log of the installation: logins, accounts, workspaces and members.',
  input: z.strictObject({
    from: instant.optional(),
    to: instant.optional(),
    actor: lineOfText(TEXT_LIMITS.reference).optional().describe(ACTOR_FIELD),
    kind: z.enum(kinds).optional(),
    name: lineOfText(TEXT_LIMITS.reference).optional().describe('Name of a changed record'),
    type: z.enum(['commit', 'event']).optional(),
    author: z
      .enum(['caller', 'system'])
      .optional()
      .describe('system: jobs of the control plane, such as presence and snapshots; caller: everyone else'),
    ...pageQuery,
    cursor: lineOfText(TEXT_LIMITS.cursor)
      .regex(/^\d{1,15}$/, { error: 'The next_cursor of the page before.' })
      .optional(),
  }),
  output: z.strictObject({ items: z.array(auditEntrySchema), next_cursor: z.string().optional() }),
  columns: { At: 'at', Actor: 'actor', Event: 'event', Result: 'result', Revision: 'revision', Reason: 'reason' },
  access: 'audit:read',
  workspace: 'scoped',
  orInstallation: true,
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'beyond_delegation'],
  http: { method: 'get', path: '/api/v1/audit' },
  async run({ from, to, actor, cursor, limit, ...filter }, context) {
    const { services, workspace } = context;
    const before = cursor === undefined ? undefined : Number(cursor);
    const entries = await services.store.audit(workspace, {
      ...definedOf(filter),
      ...definedOf({
        actors: await readableActors(context, actor),
        from: from === undefined ? undefined : parseInstant(from),
        to: to === undefined ? undefined : parseInstant(to),
        before,
      }),
      limit: limit + 1,
    });
    const items = fitting(entries, limit, auditEntryView);
    const last = entries.length > items.length ? items.at(-1)?.seq : undefined;
    return { items, ...(last !== undefined && { next_cursor: String(last) }) };
  },
});

function auditEntryView({ seq, at, type, actor, commit, event }: AuditEntry): z.input<typeof auditEntrySchema> {
  const base = { seq, at: formatInstant(at), type, actor, requestId: commit?.requestId ?? event?.requestId ?? null };
  if (commit) {
    const { revision, reason, direct, approval, changes } = commit;
    return {
      ...base,
      revision,
      reason,
      ...definedOf({ direct, approval }),
      changes: changes.map(({ fields: _, ...change }) => change),
      ...fieldsIn(changes),
    };
  }
  if (!event) return base;
  const { type: name, result, origin, detail } = event;
  const { reason } = detail ?? {};
  const told = definedOf({ origin, detail: detail && { ...detail } });
  return {
    ...base,
    event: name,
    result,
    ...(typeof reason === 'string' && { reason }),
    ...told,
    ...fieldsIn(detail?.['changes']),
  };
}

const withFields = z.array(
  z.object({
    kind: z.enum(kinds),
    name: z.string(),
    fields: z.array(
      z.object({
        field: z.string(),
        from: z.string().optional(),
        to: z.string().optional(),
        isSecret: z.literal(true).optional(),
      }),
    ),
  }),
);

/** Returns the fields of all changes of an entry. Details of other events have no such changes. */
function fieldsIn(changes: unknown): Pick<z.input<typeof auditEntrySchema>, 'fields'> {
  const having = Array.isArray(changes) ? changes.filter((change) => change?.fields !== undefined) : [];
  const fields = (withFields.safeParse(having).data ?? []).flatMap(({ kind, name, fields }) =>
    fields.map((each) => {
      const { isSecret: _, ...change } = each;
      return { kind, name, ...definedOf(change), field: each.field, text: fieldChangeText(each) };
    }),
  );
  return fields.length === 0 ? {} : { fields };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that are set. */
function definedOf<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}
