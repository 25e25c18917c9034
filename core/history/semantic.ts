import { API_VERSION, type StoredRecord } from '../base/record.ts';
import type { PeerStatus } from '../model/resources.ts';
import { agentParts, agentView } from '../views/agent-view.ts';

/** A custom resource as YAML and JSON show it, with the managed-fields metadata removed (docs/history.md#one-snapshot). */
export type CrdObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: unknown;
  readonly status?: unknown;
};

/**
 * Returns the meaning of a record: no generation, no revision, no times of its status. Records with equal results say the same
 * of the network.
 */
export function semanticOf(record: StoredRecord): CrdObject {
  const { kind, name, uid, labels, annotations, spec } = record;
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: {
      name,
      uid,
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec,
    ...(record.kind === 'MeshPeer' && { status: peerStatus(record.status) }),
    ...(record.kind === 'AgentIdentity' && agentParts(agentView(record))),
  };
}

function peerStatus({ phase, address, approvedBy }: PeerStatus) {
  return { phase, address, ...(approvedBy !== undefined && { approvedBy }) };
}

/** The lists of custom resources that a snapshot is made of, in this order; its presence follows. */
export const SNAPSHOT_LISTS = ['peers', 'policies', 'networks', 'agents'] as const;
