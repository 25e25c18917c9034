/** The API group of every custom resource; the one place that spells it. */
export const API_GROUP = 'mesh.internal';
export const API_VERSION = `${API_GROUP}/v1alpha1`;

/**
 * Every kind of record and whether its superseded revisions are kept.
 * Kinds with kept history make up "the state of the network" at a revision; the others are looked up live only.
 * What the control plane says in the spec of another's record is the field `told`.
 * A change of an `installation` kind is an event in the audit log of the installation too, in whatever workspace it is.
 */
export const KINDS = {
  MeshPeer: { history: true },
  MeshPolicy: { history: true },
  MeshNetwork: { history: true },
  AgentIdentity: { history: true, told: 'person' },
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
  DirectoryUser: { history: false },
  DirectoryGroup: { history: false },
  AddressRest: { history: false },
  Assessment: { history: false },
  AssessmentPage: { history: false },
  ComplianceDrift: { history: true },
  Review: { history: false },
  ReviewPage: { history: false },
  ReviewDue: { history: true },
  Webhook: { history: false },
  WebhookDelivery: { history: false },
} as const satisfies Record<string, { history: boolean; installation?: true; told?: string }>;

export type Kind = keyof typeof KINDS;

/** Kinds that people know as custom resources. */
export type ResourceKind = Extract<
  Kind,
  'MeshPeer' | 'MeshPolicy' | 'MeshNetwork' | 'AgentIdentity' | 'PolicyAssertion'
>;

/**
 * Spec and status of the records of each kind. A kind is added where it is defined, so that no layer imports one above it:
 * `declare module '../base/record.ts' { interface RecordTypes { MeshPeer: { spec: PeerSpec; status: PeerStatus } } }`.
 * A kind of `KINDS` without an entry does not compile.
 */
// biome-ignore lint/suspicious/noEmptyInterface: what is defined elsewhere is merged into it
export interface RecordTypes {}

export type NoStatus = Readonly<Record<string, never>>;

/** The records of a kind, or those of them whose names begin so: `Token/join.`. */
export type RecordGroup = Kind | `${Kind}/${string}`;

/** The kind of the records of a group, and what their names begin with. */
export function partsOfGroup(group: RecordGroup): { readonly kind: Kind; readonly prefix: string } {
  const [kind, ...prefix] = group.split('/');
  return { kind: kind as Kind, prefix: prefix.join('/') };
}

/** Returns true if a record belongs to a group. */
export function isOfGroup(group: RecordGroup, { kind, name }: RecordKey): boolean {
  const of = partsOfGroup(group);
  return kind === of.kind && foldName(name).startsWith(of.prefix);
}

/** The key that identifies a record inside its workspace. Names are unique per kind, ignoring case. */
export interface RecordKey<K extends Kind = Kind> {
  readonly kind: K;
  readonly name: string;
}

/** Returns the form in which names are compared and ordered. */
export function foldName(name: string): string {
  return name.toLowerCase();
}

/** A draft of one kind. */
export interface DraftOf<K extends Kind> extends RecordKey<K> {
  /** An id of `newId`; kept over updates. */
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: RecordTypes[K]['spec'];
  readonly status: RecordTypes[K]['status'];
  /** Values unique in the workspace across kinds, such as `ip:10.96.0.7`, `pubkey:<b64>`, `token:<sha256>`. */
  readonly unique: readonly string[];
}

/** A stored record of one kind. */
export interface StoredOf<K extends Kind> extends DraftOf<K> {
  readonly workspace: string;
  readonly createdAt: number;
  /** Rises by one each time `spec` or `labels` change. */
  readonly generation: number;
  /** The revision of the workspace that wrote this version. */
  readonly revision: number;
}

/**
 * The part of a record that a writer supplies; the store adds `createdAt`, `generation` and `revision`. For several kinds,
 * `kind` tells which.
 */
export type RecordDraft<K extends Kind = Kind> = { [P in K]: DraftOf<P> }[K];

/** A stored record. Instants are milliseconds since the epoch. Of several kinds: `kind` tells which. */
export type StoredRecord<K extends Kind = Kind> = { [P in K]: StoredOf<P> }[K];

/** The writable part of a record, to write it again with something changed. */
export function draftOf<R extends StoredRecord>(record: R): RecordDraft<R['kind']>;
export function draftOf({ kind, name, uid, labels, annotations, spec, status, unique }: StoredRecord): object {
  return { kind, name, uid, labels, annotations, spec, status, unique };
}
