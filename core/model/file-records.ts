import { hasEnded } from '../base/time.ts';
import { readsAsPeerId } from './peer-lists.ts';
import { isOfAgent, isReserved } from './presets.ts';
import type { NetworkRecord, PeerRecord, PolicyRecord } from './resources.ts';
import type { TokenRecord } from './token-record.ts';
import { WRITTEN_BY } from './written-by.ts';

/** The kinds that files hold, in the order in which they are read: networks before who is in them and what names both. */
export const FILE_KINDS = ['MeshNetwork', 'MeshPeer', 'MeshPolicy', 'WorkloadRule'] as const;
export type FileKind = (typeof FILE_KINDS)[number];
/** A rule for workloads is stored as a join token. */
export type FileRecord = NetworkRecord | PeerRecord | PolicyRecord | TokenRecord;

/** The kinds of which files may say that there is nothing else. Peers come by registering, and go by their own operations. */
export const PRUNED_KINDS = ['MeshPolicy', 'MeshNetwork', 'WorkloadRule'] as const;
export type PrunedKind = (typeof PRUNED_KINDS)[number];

/**
 * Why files do not hold a record, and never prune it; undefined where they do. What agents made ends with them, and what
 * has ended goes by itself.
 *
 * @param by who asks: what an agent wrote is its own
 */
export function exclusionReason(record: FileRecord, by: string | undefined, now: number): string | undefined {
  switch (record.kind) {
    case 'MeshNetwork':
      return undefined;
    case 'MeshPolicy': {
      const author = record.annotations[WRITTEN_BY];
      if (isOfAgent(record)) return 'it is the preset of an agent or of workloads';
      if (author !== undefined && author !== by) return 'an agent wrote it, and it ends with that agent';
      return hasEnded(record.spec, now) ? 'its time is over' : undefined;
    }
    case 'MeshPeer':
      if (record.spec.agentRef !== undefined) return 'it is the peer of an agent';
      if (record.spec.delegatedBy !== undefined) return 'it came with the token of an agent, and ends with that agent';
      if (readsAsPeerId(record.name)) return 'its name reads as an id: give it another';
      if (record.status.phase === 'revoked') return 'it is shut out';
      return record.status.phase === 'expired' || hasEnded(record.spec, now) ? 'its time is over' : undefined;
    case 'Token':
      if (record.spec.issuedBy !== undefined) return 'an agent made it, and it ends with that agent';
      return hasEnded(record.spec, now) ? 'its time is over' : undefined;
    default:
      return record satisfies never;
  }
}

/** Labels or annotations without those that the control plane sets. */
export function withoutReserved(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !isReserved(key)));
}

/** Labels or annotations that the control plane sets. */
export function reservedOf(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => isReserved(key)));
}
