import type { Caller } from '../base/caller.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type Change, type Store, StoreError } from '../base/ports.ts';
import type { Kind } from '../base/record.ts';
import { CREDENTIAL_KINDS } from '../identity/credential-cache.ts';
import { requireStillMay } from '../identity/standing.ts';
import type { CallerDraft, WritingCall } from './draft.ts';

/** The store asks at the moment of the commit. Later writes of the same call complete it, even if the caller has gone. */
export function beginInTime(draft: CallerDraft, { progress, requireTimely }: WritingCall): CallerDraft {
  return progress.hasWritten ? draft : { ...draft, context: { ...draft.context, requireTimely } };
}

/** A write that a person approved is made even if its requester has ended since. */
export async function checkStanding(draft: CallerDraft, call: WritingCall): Promise<CallerDraft> {
  if (!draft.context.isApproved && !call.progress.hasEnded) await requireStillMay(call, draft.workspace, call.caller);
  return draft;
}

export async function holdStanding(draft: CallerDraft, call: WritingCall): Promise<CallerDraft> {
  if (draft.context.isApproved || call.progress.hasEnded) return draft;
  // Read before the caller is asked for again, so that a change in between fails the commit.
  const [held] = await Promise.all([heldTo(call.store, draft.workspace, call.caller), hear(call, draft.workspace)]);
  await requireStillMay(call, draft.workspace, call.caller);
  return held ? { ...draft, held, ops: [held, ...draft.ops] } : draft;
}

/** @throws MeshError `forbidden` unless the caller may write, by what every control plane has acknowledged */
export async function requireHeard(call: WritingCall, workspace: string): Promise<void> {
  if (call.progress.hasEnded) return;
  await hear(call, workspace);
  await requireStillMay(call, workspace, call.caller);
}

/** Waits until this control plane knows what others have acknowledged. */
function hear({ store }: WritingCall, workspace: string): Promise<void> {
  return store.caughtUp([SYSTEM_WORKSPACE, workspace]);
}

/** Tells whether a commit failed because the record that its caller is held to has changed. */
export async function hasMoved(
  { workspace, held }: CallerDraft,
  { store, caller }: WritingCall,
  error: unknown,
): Promise<boolean> {
  if (!held || !(error instanceof StoreError) || error.code !== 'conflict') return false;
  return (await heldTo(store, workspace, caller))?.revision !== held.revision;
}

/**
 * Checks that the record which a caller may write by is still at the revision that it has before their standing is looked
 * at: who is removed while a write of theirs is on its way does not have it written after.
 */
async function heldTo({ get }: Pick<Store, 'get'>, workspace: string, { kind, name }: Caller) {
  const of = HELD_TO[kind];
  if (of === undefined || workspace === SYSTEM_WORKSPACE) return undefined;
  const key = { kind: of, name } as const;
  return { op: 'check', key, revision: (await get(workspace, key))?.revision ?? 0 } as const;
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
