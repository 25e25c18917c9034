import type { PeerRecord, PresenceRecord } from '../network/resources.ts';
import type { Change, Commit } from '../ports.ts';
import type { TriggerType } from './snapshot-record.ts';

/** The cause that a commit is for a snapshot; undefined when it changes nothing that a snapshot shows. */
export function triggerOf({ changes, approval }: Pick<Commit, 'changes' | 'approval'>): TriggerType | undefined {
  const found = new Set(changes.map(causeOf));
  if (approval && [...found].some((cause) => cause !== undefined)) return 'workflow_executed';
  return (['policy_change', 'peer_offline', 'peer_online'] as const).find((cause) => found.has(cause));
}

function causeOf({ type, record, before }: Change): TriggerType | undefined {
  switch (record.kind) {
    case 'MeshPolicy':
      return 'policy_change';
    case 'MeshNetwork':
      // A network that is new decides about nobody yet; the first one comes with its workspace.
      return type === 'created' ? undefined : 'policy_change';
    case 'MeshPeer':
      if (type === 'deleted') return 'peer_offline';
      return peerCause(record as PeerRecord, before as PeerRecord | undefined);
    case 'Presence':
      return type !== 'deleted' && (record as PresenceRecord).spec.online ? 'peer_online' : 'peer_offline';
    default:
      return undefined;
  }
}

/** New labels or another network are a policy change by another name (DESIGN 5.1); being let in or shut out is not. */
function peerCause(peer: PeerRecord, before: PeerRecord | undefined): TriggerType | undefined {
  if (before && before.generation !== peer.generation) return 'policy_change';
  if (before?.status.phase === peer.status.phase) return undefined;
  if (peer.status.phase === 'ready') return 'peer_online';
  return before ? 'peer_offline' : undefined;
}
