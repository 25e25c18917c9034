import type { Write } from '../authority/writes.ts';
import { apiTokenOf, type Caller } from '../base/caller.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type Change, type Op, type Store, StoreError } from '../base/ports.ts';
import type { Kind, RecordDraft, StoredRecord } from '../base/record.ts';
import { CREDENTIAL_KINDS } from '../identity/credential-cache.ts';
import { requireCurrentRights } from '../identity/current-rights.ts';
import { credentialEnd, grantLimitOf, requireWithinLimit } from '../identity/grant-limit.ts';
import { changedGrants } from '../model/grants.ts';
import { isWorkloadRule } from '../model/token-record.ts';
import { sameValue } from '../model/value.ts';
import { type Authorship, authoredAnnotations } from '../model/written-by.ts';
import type { CallerDraft, Check, WritingCall } from './draft.ts';

/** The store asks at the moment of the commit. Later writes of the same call complete it, even if the caller has gone. */
export async function beginInTime(draft: CallerDraft, call: WritingCall): Promise<CallerDraft> {
  const { progress, requireTimely } = call;
  return progress.hasWritten ? draft : { ...draft, context: { ...draft.context, requireTimely } };
}

/** A write that a person approved is made even if its requester has ended since. */
export async function checkStanding(draft: CallerDraft, call: WritingCall): Promise<CallerDraft> {
  if (!draft.context.isApproved && !call.progress.hasEnded)
    await requireCurrentRights(call, draft.workspace, call.caller);
  return draft;
}

export async function holdStanding(draft: CallerDraft, call: WritingCall): Promise<CallerDraft> {
  const { store, caller, progress } = call;
  const { workspace, context, token } = draft;
  // An approved write is not held to the standing of its caller, and still makes no credential that a dead token ties.
  if (context.isApproved || progress.hasEnded) return token ? { ...draft, ops: [token, ...draft.ops] } : draft;
  // Read before the caller is asked for again, so that a change in between fails the commit.
  const [held] = await Promise.all([
    checksOf(store, workspace, caller, token),
    store.caughtUp([SYSTEM_WORKSPACE, workspace]),
  ]);
  await requireCurrentRights(call, workspace, caller);
  return { ...draft, held, ops: [...held, ...draft.ops] };
}

/** Tells whether a commit failed because a record that its caller is held to has changed. */
export async function hasMoved(draft: CallerDraft, call: WritingCall, error: unknown): Promise<boolean> {
  const { workspace, held = [] } = draft;
  if (held.length === 0 || !(error instanceof StoreError) || error.code !== 'conflict') return false;
  return !sameValue(await checksOf(call.store, workspace, call.caller), held);
}

/**
 * Checks that the records which a caller may write by are still at the revision that they have before their standing is
 * looked at: who is removed, or whose API token is, while a write of theirs is on its way does not have it written after.
 */
async function checksOf(
  store: Pick<Store, 'get' | 'getById'>,
  workspace: string,
  caller: Caller,
  tokenCheck?: Check,
): Promise<Check[]> {
  const kind = HELD_TO[caller.kind];
  if (kind === undefined || workspace === SYSTEM_WORKSPACE) return tokenCheck ? [tokenCheck] : [];
  const id = apiTokenOf(caller);
  const [identity, token] = await Promise.all([
    store.get(workspace, { kind, name: caller.name }),
    tokenCheck ?? (id === undefined ? undefined : store.getById(workspace, 'Token', id).then(checkOf)),
  ]);
  const own: Check = { op: 'check', key: { kind, name: caller.name }, revision: identity?.revision ?? 0 };
  return token ? [own, token] : [own];
}

function checkOf(token: StoredRecord<'Token'> | undefined): Check | undefined {
  return token && { op: 'check', key: { kind: 'Token', name: token.name }, revision: token.revision };
}

const HELD_TO: Readonly<Partial<Record<Caller['kind'], Kind>>> = { user: 'Member', agent: 'AgentIdentity' };

/** Returns true if a change affects a record that a caller's credential rests on. */
export function concerns(
  { record: { kind, uid, name } }: Change,
  { id, tokenId, person, line = [], ...caller }: Caller,
): boolean {
  if (kind === 'Member') return name === caller.name;
  return CREDENTIAL_KINDS.has(kind) && [id, tokenId, person, ...line].includes(uid);
}

/**
 * No credential that an API token makes outlives what the token may grant, whichever operation makes it, nor the token itself.
 * A record that a person writes or approves is a person's from then on.
 *
 * @throws MeshError `forbidden`
 */
export async function signRecords(draft: CallerDraft, call: WritingCall): Promise<CallerDraft> {
  const { caller, store, clock } = call;
  const granted = draft.writes.filter(grantsCredential);
  const id = granted.length > 0 ? apiTokenOf(caller) : undefined;
  const token = id === undefined ? undefined : await store.getById(draft.workspace, 'Token', id);
  const now = clock.now();
  const limit = id === undefined ? undefined : grantLimitOf(token, now);
  for (const { after } of granted) if (after) requireWithinLimit(credentialEnd(after) ?? now, limit, now);
  const isPersons = caller.kind !== 'agent' || Boolean(draft.approved ?? draft.context.approval?.reviewedBy);
  const keys = new Set(granted.map(({ kind, name }) => `${kind}/${name}`));
  const ops = draft.ops
    .map((op) => withAuthor(op, { agent: isPersons ? undefined : caller.id, ordered: draft.context.ordered }))
    .map((op) => (keys.has(keyOf(op)) ? withTokenOf(op, token?.uid) : op));
  return { ...draft, ops, token: checkOf(token) };
}

/** Says of a credential which API token made or renewed it. What a person makes or renews while signed in is tied to none. */
function withTokenOf(op: Op, token: string | undefined): Op {
  if ((op.op !== 'create' && op.op !== 'update') || op.record.kind !== 'Token') return op;
  const { madeWith: _, ...rest } = op.record.spec;
  const spec = token === undefined ? rest : { ...rest, madeWith: token };
  return { ...op, record: { ...op.record, spec } satisfies RecordDraft };
}

/** Tells whether a write makes a credential, gives it another secret, lets it live longer, or is a rule that grants something else. */
function grantsCredential({ before, after }: Write): boolean {
  const end = after && credentialEnd(after);
  if (!after || end === undefined) return false;
  if (!before || end > (credentialEnd(before) ?? 0) || !sameValue(before.unique, after.unique)) return true;
  return after.kind === 'Token' && isWorkloadRule(after) && changedGrants(before, after).length > 0;
}

export function keyOf(op: Op): string {
  const { kind, name } = 'record' in op ? op.record : op.key;
  return `${kind}/${name}`;
}

/** Says of a policy which agent wrote it by itself, and for whose orders it was written. */
export function withAuthor(op: Op, authorship: Authorship): Op {
  if ((op.op !== 'create' && op.op !== 'update') || op.record.kind !== 'MeshPolicy') return op;
  const annotations = authoredAnnotations(op.op, op.record, authorship);
  return { ...op, record: { ...op.record, annotations } satisfies RecordDraft };
}
