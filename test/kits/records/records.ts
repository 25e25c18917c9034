import { type IdPrefix, newId } from '../../../core/base/ids.ts';
import type { Kind, StoredOf, StoredRecord } from '../../../core/base/record.ts';
import type { PolicySpec } from '../../../core/model/policy.ts';
import type {
  AgentRecord,
  AgentSpec,
  AgentStatus,
  NetworkRecord,
  NetworkSpec,
  PeerRecord,
  PeerSpec,
  PeerStatus,
  PolicyRecord,
  PresenceRecord,
} from '../../../core/model/resources.ts';
import { type NetworkState, stateOf } from '../../../core/state/state.ts';

/** Records and states for tests of pure code, made without a store. */

const WORKSPACE = 'w_test';

interface Common {
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly revision?: number;
}

export function peer(
  name: string,
  { phase, address, ...rest }: Common & Partial<PeerSpec> & Partial<PeerStatus> = {},
): PeerRecord {
  const { uid, labels, revision, ...spec } = rest;
  const status: PeerStatus = { phase: phase ?? 'ready', address: address ?? null };
  return record('MeshPeer', 'p', name, rest, {
    spec: {
      displayName: name,
      hostname: name,
      platform: 'linux',
      publicKey: Buffer.from(name.padEnd(32, '.')).toString('base64'),
      network: 'default',
      ...spec,
    },
    status,
    unique: status.address === null ? [] : [`ip:${status.address}`],
  });
}

export function policy(name: string, spec: PolicySpec, common: Common = {}): PolicyRecord {
  return record('MeshPolicy', 'pol', name, common, { spec, status: {}, unique: [] });
}

export function network(
  name: string,
  { uid, labels, revision, ...spec }: Common & Partial<NetworkSpec> = {},
): NetworkRecord {
  const common = { ...(uid !== undefined && { uid }), ...(labels && { labels }), ...(revision && { revision }) };
  return record('MeshNetwork', 'net', name, common, {
    spec: { cidr: '10.96.0.0/24', mtu: 1280, defaultAction: 'ALLOW', ...spec },
    status: {},
    unique: [],
  });
}

/** A freed address in quarantine. */
export function quarantine(address: string, until: number, common: Common = {}): StoredOf<'AddressRest'> {
  return record('AddressRest', 'r', address, common, { spec: { until }, status: {}, unique: [] });
}

/** The presence of a peer; always under the same uid. */
export function presence(name: string, online: boolean): PresenceRecord {
  return record('Presence', 'r', name, { uid: `r_${name}` }, { spec: { online }, status: {}, unique: [] });
}

export function agent(name: string, spec: Partial<AgentSpec> = {}, status: Partial<AgentStatus> = {}): AgentRecord {
  return record(
    'AgentIdentity',
    'agt',
    name,
    {},
    {
      spec: { ttl: '24h', policyPreset: 'inherit', scopes: [], expiresAt: '2100-01-01T00:00:00.000Z', ...spec },
      status: { phase: 'Active', depth: 0, ...status },
      unique: [],
    },
  );
}

export function stateWith(...records: readonly StoredRecord[]): NetworkState {
  const hasNetwork = records.some(({ kind }) => kind === 'MeshNetwork');
  return stateOf(WORKSPACE, 10, hasNetwork ? records : [network('default'), ...records]);
}

/** A record where it is of that kind. */
export function ofKind<K extends Kind>(record: StoredRecord | undefined, kind: K): StoredOf<K> | undefined {
  return isOf(record, kind) ? record : undefined;
}

function isOf<K extends Kind>(record: { readonly kind: string } | undefined, kind: K): record is StoredOf<K> {
  return record?.kind === kind;
}

function record<K extends Kind>(
  kind: K,
  prefix: IdPrefix,
  name: string,
  { uid, labels, revision }: Common,
  rest: Pick<StoredOf<K>, 'spec' | 'status' | 'unique'>,
): StoredOf<K> {
  return {
    kind,
    workspace: WORKSPACE,
    name,
    uid: uid ?? newId(prefix),
    labels: labels ?? {},
    annotations: {},
    createdAt: 0,
    generation: 1,
    revision: revision ?? 1,
    ...rest,
  };
}
