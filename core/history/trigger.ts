import type { PresenceRecord } from '../network/resources.ts';
import type { Commit } from '../ports.ts';
import type { TriggerType } from './snapshot-record.ts';

/** The cause that a commit is for a snapshot; undefined when it changes nothing that a snapshot shows. */
export function triggerOf({ changes, approval }: Pick<Commit, 'changes' | 'approval'>): TriggerType | undefined {
  if (approval && changes.some(({ record }) => record.kind !== 'Workflow')) return 'workflow_executed';
  let found: TriggerType | undefined;
  for (const { type, record, before } of changes) {
    switch (record.kind) {
      case 'MeshPolicy':
        return 'policy_change';
      case 'MeshPeer':
        // New labels or another network are a policy change by another name (DESIGN 5.1); a leaving peer goes offline.
        if (type === 'deleted') found ??= 'peer_offline';
        else if (before !== undefined && before.generation !== record.generation) return 'policy_change';
        break;
      case 'MeshNetwork':
        return 'policy_change';
      case 'Presence':
        if (type === 'deleted' || !(record as PresenceRecord).spec.online) found ??= 'peer_offline';
        else found ??= 'peer_online';
        break;
      default:
    }
  }
  return found;
}
