import type { PeerStatus } from '../network/resources.ts';
import type { NetworkState } from '../network/state.ts';
import { API_VERSION, type StoredRecord } from '../record.ts';

/** A custom resource as YAML and JSON show it, with the managed-fields metadata removed (contract, "Snapshot"). */
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

/** What a record means: no generation, no revision, no times of its status. Two equal ones say the same of the network. */
export function semanticOf({ kind, name, uid, labels, annotations, spec, status }: StoredRecord): CrdObject {
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
    ...(kind === 'MeshPeer' && { status: peerStatus(status as PeerStatus) }),
  };
}

function peerStatus({ phase, address, approvedBy }: PeerStatus) {
  return { phase, address, ...(approvedBy !== undefined && { approvedBy }) };
}

/** The contract's four state fields of a snapshot. */
export function snapshotContent(state: NetworkState) {
  return {
    peers: [...state.peers.values()].map(semanticOf),
    policies: [...state.policies.values()].map(semanticOf),
    networks: [...state.networks.values()].map(semanticOf),
    presence: Object.fromEntries(
      [...state.peers.keys()].map(
        (name) => [name, state.presence.get(name)?.spec.online ? 'online' : 'offline'] as const,
      ),
    ),
  };
}
