import type { Write } from '../authority/writes.ts';
import { apiTokenOf } from '../base/caller.ts';
import type { Op } from '../base/ports.ts';
import type { RecordDraft } from '../base/record.ts';
import { credentialEnd, grantLimit, requireWithinLimit } from '../identity/grant-limit.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import type { CallerDraft, WritingCall } from './draft.ts';

/** Whichever operation makes the credential. @throws MeshError `forbidden` */
export async function limitCredentials(begun: CallerDraft, call: WritingCall): Promise<CallerDraft> {
  const { store, clock, caller } = call;
  const draft = { ...begun, granted: begun.writes.filter(grantsCredential) };
  const id = apiTokenOf(caller);
  if (id === undefined || draft.granted.length === 0) return draft;
  const token = await store.getById(draft.workspace, 'Token', id);
  const limit = await grantLimit(call, draft.workspace, caller);
  const now = clock.now();
  for (const { after } of draft.granted) if (after) requireWithinLimit(credentialEnd(after) ?? now, limit, now);
  return { ...draft, token };
}

/** What a person writes or approves is a person's from then on. An API token that is revoked meanwhile makes no credential. */
export function sign(draft: CallerDraft, { caller }: WritingCall): CallerDraft {
  const { token, approved, context } = draft;
  const isPersons = caller.kind !== 'agent' || approved !== undefined || Boolean(context.approval?.reviewedBy);
  const keys = new Set(draft.granted.map(({ kind, name }) => `${kind}/${name}`));
  const ops = draft.ops
    .map((op) => withAuthor(op, isPersons ? undefined : caller.id))
    .map((op) => (keys.has(keyOf(op)) ? withTokenOf(op, token?.uid) : op));
  if (!token) return { ...draft, ops };
  return {
    ...draft,
    ops: [{ op: 'check', key: { kind: 'Token', name: token.name }, revision: token.revision }, ...ops],
  };
}

/** Says of a credential which API token made or renewed it. What a person makes or renews while signed in is tied to none. */
function withTokenOf(op: Op, token: string | undefined): Op {
  if ((op.op !== 'create' && op.op !== 'update') || op.record.kind !== 'Token') return op;
  const { madeWith: _, ...rest } = op.record.spec;
  const spec = token === undefined ? rest : { ...rest, madeWith: token };
  return { ...op, record: { ...op.record, spec } satisfies RecordDraft };
}

/** Tells whether a write makes a credential, gives it another secret, or lets it live longer. */
function grantsCredential({ before, after }: Write): boolean {
  const end = after && credentialEnd(after);
  if (!after || end === undefined) return false;
  return !before || end > (credentialEnd(before) ?? 0) || !sameValue(before.unique, after.unique);
}

export function keyOf(op: Op): string {
  const { kind, name } = 'record' in op ? op.record : op.key;
  return `${kind}/${name}`;
}

/** Says of a policy which agent wrote it by itself. What a person writes or approves is a person's from then on. */
export function withAuthor(op: Op, agent: string | undefined): Op {
  if ((op.op !== 'create' && op.op !== 'update') || op.record.kind !== 'MeshPolicy') return op;
  const { [WRITTEN_BY]: _, ...rest } = op.record.annotations;
  const annotations = agent === undefined ? rest : { ...rest, [WRITTEN_BY]: agent };
  return { ...op, record: { ...op.record, annotations } satisfies RecordDraft };
}
