import type { Change, Commit } from '../base/ports.ts';
import { withRenames } from '../base/renames.ts';
import { isOfKind } from '../base/written-record.ts';
import { sameAccess } from '../model/peer-access.ts';
import type { PresenceRecord } from '../model/resources.ts';
import { isStateKind } from '../state/state.ts';
import type { TriggerType } from './snapshot-record.ts';

/** Why a commit asks for a snapshot. Who came and who went is found out when the burst is over. */
export type Cause = 'workflow_executed' | 'policy_change' | 'presence';

/** Undefined for a commit that asks for none, such as a registration: who registers is not online yet. */
export function causeOf({ changes, approval }: Pick<Commit, 'changes' | 'approval'>): Cause | undefined {
  if (approval && changes.some(({ record }) => isStateKind(record.kind))) return 'workflow_executed';
  if (withRenames(changes).some(isPolicyChange)) return 'policy_change';
  return changes.some(({ record }) => record.kind === 'Presence') ? 'presence' : undefined;
}

function isPolicyChange({ type, record, before }: Change): boolean {
  switch (record.kind) {
    case 'MeshPolicy':
      return true;
    case 'MeshNetwork':
      // A network that is new decides about nobody yet; the first one comes with its workspace.
      return type !== 'created';
    case 'MeshPeer':
      // New labels or another network are a policy change by another name; being let in or shut out is not.
      if (type !== 'updated' || before === undefined || before.generation === record.generation) return false;
      return before.name === record.name || (before.kind === 'MeshPeer' && !sameAccess(before, record));
    default:
      return false;
  }
}

/** Presence of peers before and after a burst of commits, by the uid of the presence record, which survives a rename. */
export type PresenceDifference = ReadonlyMap<string, { readonly was: boolean; readonly is: boolean }>;

export function withPresence(known: PresenceDifference, changes: readonly Change[]): PresenceDifference {
  const difference = new Map(known);
  for (const change of changes) {
    if (!isOfKind(change, 'Presence')) continue;
    const { type, record, before } = change;
    const was = type === 'deleted' ? isOnline(record) : before !== undefined && isOnline(before);
    const first = difference.get(record.uid) ?? { was };
    difference.set(record.uid, { ...first, is: type !== 'deleted' && isOnline(record) });
  }
  return difference;
}

/** Undefined where everyone is as before. Where some came and some went, their going names it. */
export function presenceTrigger(difference: PresenceDifference): TriggerType | undefined {
  const changed = [...difference.values()].filter(({ was, is }) => was !== is);
  if (changed.length === 0) return undefined;
  return changed.some(({ was }) => was) ? 'peer_offline' : 'peer_online';
}

function isOnline({ spec }: PresenceRecord): boolean {
  return spec.online;
}
