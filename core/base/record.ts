/** The API group of every custom resource; the one place that spells it. */
export const API_GROUP = 'mesh.internal';
export const API_VERSION = `${API_GROUP}/v1alpha1`;

/**
 * Every kind of record and whether its superseded revisions are kept.
 * Kinds with kept history make up "the state of the network" at a revision; the others are looked up live only.
 * A change of an `installation` kind is an event in the audit log of the installation too, in whatever workspace it is.
 */
export const KINDS = {
  MeshPeer: { history: true },
  MeshPolicy: { history: true },
  MeshNetwork: { history: true },
  AgentIdentity: { history: true },
  Presence: { history: true },
  Workflow: { history: true },
  PolicyAssertion: { history: true },
  Snapshot: { history: false },
  Plan: { history: false },
  Token: { history: false },
  Member: { history: false, installation: true },
  Workspace: { history: false },
  Account: { history: false },
  Session: { history: false },
  AddressRest: { history: false },
} as const satisfies Record<string, { history: boolean; installation?: true }>;

export type Kind = keyof typeof KINDS;

/** Kinds that people know as custom resources. */
export type ResourceKind = Extract<
  Kind,
  'MeshPeer' | 'MeshPolicy' | 'MeshNetwork' | 'AgentIdentity' | 'PolicyAssertion'
>;

/** What identifies a record inside its workspace. Names are unique per kind, ignoring case. */
export interface RecordKey {
  readonly kind: Kind;
  readonly name: string;
}

/** What names are compared and ordered by. */
export function foldName(name: string): string {
  return name.toLowerCase();
}

/** What a writer supplies; the store adds `createdAt`, `generation` and `revision`. */
export interface RecordDraft<Spec = unknown, Status = unknown> extends RecordKey {
  /** An id of `newId`; kept over updates. */
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Spec;
  readonly status: Status;
  /** Values unique in the workspace across kinds, such as `ip:10.96.0.7`, `pubkey:<b64>`, `token:<sha256>`. */
  readonly unique: readonly string[];
}

/** A stored record. Instants are milliseconds since the epoch. */
export interface StoredRecord<Spec = unknown, Status = unknown> extends RecordDraft<Spec, Status> {
  readonly workspace: string;
  readonly createdAt: number;
  /** Rises by one each time `spec` or `labels` change. */
  readonly generation: number;
  /** The revision of the workspace that wrote this version. */
  readonly revision: number;
}

/** The writable part of a record, to write it again with something changed. */
export function draftOf<Spec, Status>(record: StoredRecord<Spec, Status>): RecordDraft<Spec, Status> {
  const { kind, name, uid, labels, annotations, spec, status, unique } = record;
  return { kind, name, uid, labels, annotations, spec, status, unique };
}
