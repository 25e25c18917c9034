import type { Kind, RecordTypes } from './record.ts';

/**
 * The meaning of a field of a record for access:
 * - `grants`: gives or takes access, or the right to decide;
 * - `limits`: bounds a grant in number or time;
 * - `expires`: bounds a grant by an instant that is computed when a call runs, so two attempts of one call differ;
 * - `binds`: ties the record to an agent or a person whose reach and life it shares;
 * - `phase`: says whether the record counts; each transition is judged by itself;
 * - `identifies`: says what the record is, or who made it: a name, a public key;
 * - `setting`: people decide on it with the rest, and it grants nothing;
 * - `secret`: proves something, or finds what proves it: its value never leaves the record;
 * - `personal`: an issuer says it of a person: its value never leaves the record either, as the audit log forgets nothing;
 * - `text`: a description that people wrote;
 * - `nothing`: a counter, or what follows from other fields. Nobody is told of it.
 */
export type FieldRole =
  | 'grants'
  | 'limits'
  | 'expires'
  | 'binds'
  | 'phase'
  | 'identifies'
  | 'setting'
  | 'secret'
  | 'personal'
  | 'text'
  | 'nothing';

type FieldNames<T> = T extends unknown ? keyof T & string : never;

/** Whatever a directory says is `personal`, but for whom it lets in and with what. */
type RoleIn<K extends Kind> = K extends `Directory${string}`
  ? Extract<FieldRole, 'grants' | 'binds' | 'phase' | 'personal' | 'nothing'>
  : FieldRole;

/** The roles of all fields of one kind that may mean something for access; annotations and unique keys never do. */
export interface RecordFields<K extends Kind = Kind> {
  readonly name: FieldRole;
  readonly labels: FieldRole;
  readonly spec: { readonly [F in FieldNames<RecordTypes[K]['spec']>]: RoleIn<K> };
  readonly status: { readonly [F in FieldNames<RecordTypes[K]['status']>]: FieldRole };
}

/**
 * The role of every field of every kind. A field that a spec or status gains does not compile until it has one here.
 * `nothing` for a whole kind: its records report, or follow from others, and none of their fields gives anybody access.
 */
export const RECORD_FIELDS: { readonly [K in Kind]: RecordFields<K> | 'nothing' } = {
  MeshPeer: {
    name: 'identifies',
    labels: 'grants',
    spec: {
      displayName: 'identifies',
      hostname: 'identifies',
      platform: 'nothing',
      publicKey: 'identifies',
      network: 'grants',
      agentRef: 'binds',
      delegatedBy: 'binds',
      expiresAt: 'expires',
    },
    status: {
      phase: 'phase',
      address: 'nothing',
      approvedBy: 'nothing',
      approvedAt: 'nothing',
      tokenId: 'identifies',
      tokenBy: 'identifies',
      workload: 'identifies',
      proven: 'nothing',
      ephemeral: 'limits',
      keySince: 'nothing',
      keyByToken: 'nothing',
      changedItselfAt: 'nothing',
      version: 'nothing',
      renames: 'nothing',
    },
  },
  MeshPolicy: {
    name: 'identifies',
    labels: 'identifies',
    spec: {
      network: 'grants',
      action: 'grants',
      peerSelector: 'grants',
      ingress: 'grants',
      egress: 'grants',
      startsAt: 'limits',
      expiresAt: 'limits',
    },
    status: {},
  },
  MeshNetwork: {
    name: 'identifies',
    labels: 'nothing',
    spec: { cidr: 'grants', mtu: 'setting', defaultAction: 'grants' },
    status: { former: 'nothing' },
  },
  PolicyAssertion: {
    name: 'identifies',
    labels: 'nothing',
    spec: { src: 'grants', dst: 'grants', protocol: 'grants', port: 'grants', endPort: 'grants', expect: 'grants' },
    // The memory of an end that left follows from its last record.
    status: { src: 'nothing', dst: 'nothing' },
  },
  AgentIdentity: {
    name: 'identifies',
    labels: 'nothing',
    spec: {
      parentRef: 'binds',
      // As asked for; `expiresAt` is what counts.
      ttl: 'setting',
      policyPreset: 'grants',
      scopes: 'grants',
      expiresAt: 'expires',
      person: 'binds',
      tokenUses: 'limits',
      reach: 'grants',
      egress: 'grants',
    },
    status: { phase: 'phase', peerRef: 'identifies', depth: 'nothing', barred: 'phase', client: 'identifies' },
  },
  Token: {
    name: 'identifies',
    labels: 'nothing',
    spec: {
      kind: 'setting',
      name: 'identifies',
      owner: 'identifies',
      scopes: 'grants',
      expiresAt: 'expires',
      maxGrant: 'limits',
      usageLimit: 'limits',
      usedCount: 'nothing',
      spentAt: 'nothing',
      createdBy: 'identifies',
      labels: 'grants',
      network: 'grants',
      deviceLabels: 'grants',
      ephemeral: 'limits',
      identity: 'limits',
      spentIdentities: 'nothing',
      deviceTtlMs: 'limits',
      admits: 'grants',
      preset: 'grants',
      egress: 'grants',
      issuedBy: 'identifies',
      madeWith: 'identifies',
      epoch: 'nothing',
      busDigest: 'secret',
      oauth: 'secret',
    },
    status: {},
  },
  Member: { name: 'identifies', labels: 'nothing', spec: { role: 'grants', issued: 'identifies' }, status: {} },
  Account: {
    name: 'identifies',
    labels: 'nothing',
    spec: {
      displayName: 'text',
      role: 'grants',
      passwordHash: 'secret',
      passwordState: 'identifies',
      disabled: 'phase',
      disabledBy: 'identifies',
      epoch: 'nothing',
      successor: 'grants',
      // Holds the instant at which the end was decided.
      leaving: 'expires',
      passwordChangedAt: 'nothing',
      formerPasswords: 'nothing',
      knownSources: 'nothing',
      signedInAt: 'nothing',
      secondFactor: 'secret',
      enrolment: 'secret',
      factorEpoch: 'nothing',
      issued: 'personal',
      grantEpoch: 'nothing',
      signedOutAt: 'nothing',
    },
    status: {},
  },
  DirectoryUser: {
    name: 'identifies',
    labels: 'nothing',
    spec: {
      issuer: 'nothing',
      userName: 'personal',
      externalId: 'personal',
      active: 'phase',
      groups: 'grants',
      account: 'binds',
      attributes: 'personal',
      changedAt: 'nothing',
    },
    status: {},
  },
  DirectoryGroup: {
    name: 'identifies',
    labels: 'nothing',
    spec: {
      issuer: 'nothing',
      displayName: 'grants',
      externalId: 'personal',
      attributes: 'personal',
      changedAt: 'nothing',
    },
    status: {},
  },
  Session: {
    name: 'identifies',
    labels: 'nothing',
    spec: {
      account: 'identifies',
      username: 'identifies',
      epoch: 'nothing',
      factorEpoch: 'nothing',
      expiresAt: 'expires',
      usedAt: 'nothing',
      origin: 'nothing',
      client: 'nothing',
      idle: 'phase',
      issued: 'secret',
    },
    status: {},
  },
  Workspace: {
    name: 'identifies',
    labels: 'nothing',
    spec: {
      slug: 'identifies',
      namespace: 'identifies',
      displayName: 'text',
      maxNodeCount: 'limits',
      settings: 'grants',
      scheduleOwners: 'binds',
      approvalEndedAt: 'nothing',
    },
    status: {},
  },
  Webhook: {
    name: 'identifies',
    labels: 'nothing',
    spec: {
      url: 'grants',
      description: 'text',
      events: 'grants',
      enabled: 'phase',
      secrets: 'secret',
      createdBy: 'identifies',
      owner: 'binds',
    },
    status: { next: 'nothing', failingSince: 'nothing', disabled: 'phase' },
  },
  Presence: 'nothing',
  AddressRest: 'nothing',
  Workflow: 'nothing',
  Plan: 'nothing',
  Snapshot: 'nothing',
  Assessment: 'nothing',
  AssessmentPage: 'nothing',
  ComplianceDrift: 'nothing',
  Review: 'nothing',
  ReviewPage: 'nothing',
  ReviewDue: 'nothing',
  WebhookDelivery: 'nothing',
};

/** Fields that hold milliseconds and no instant. */
export const DURATION_FIELDS: ReadonlySet<string> = new Set(['maxGrant']);
