import type { NoStatus, StoredRecord } from '../base/record.ts';
import type { EgressRule, PolicySpec } from './policy.ts';
import type { PeerRename } from './renames.ts';

/** The custom resources of the contract (docs/policy.md#kinds). Instants inside specs are ISO 8601 UTC. */

export const PLATFORMS = ['linux', 'macos', 'ios', 'container', 'agent'] as const;
export type Platform = (typeof PLATFORMS)[number];

export interface PeerSpec {
  /** The name as the device gave it, before spaces became hyphens. */
  readonly displayName: string;
  readonly hostname: string;
  readonly platform: Platform;
  /** X25519, base64 (44 characters), as WireGuard writes it. */
  readonly publicKey: string;
  /** Name of the MeshNetwork. */
  readonly network: string;
  /** Name of the AgentIdentity that an agent's peer belongs to. */
  readonly agentRef?: string;
  /** Name of the AgentIdentity whose join token it came with: bounded by that agent's reach, and gone when it ends. */
  readonly delegatedBy?: string;
  readonly expiresAt?: string;
}

export const PEER_PHASES = ['pending', 'ready', 'revoked', 'expired'] as const;
export type PeerPhase = (typeof PEER_PHASES)[number];

export interface PeerStatus {
  readonly phase: PeerPhase;
  /** Overlay address without prefix; null while pending. */
  readonly address: string | null;
  readonly approvedBy?: string;
  readonly approvedAt?: string;
  /** Uid of the join or delegate token it came with. */
  readonly tokenId?: string;
  /** Actor who made that token: it is told who let a device in when the token has gone. */
  readonly tokenBy?: string;
  /** OIDC identity with which its workload joined. */
  readonly workload?: { readonly issuer: string; readonly subject: string };
  /** True when it proved to hold the private key at registration; it must prove it again to register again. */
  readonly proven?: boolean;
  /** It is deleted once it has been offline for a while. */
  readonly ephemeral?: true;
  /** When it took its present key; absent for the one that it came with. */
  readonly keySince?: string;
  /** True where its device took its present key by its token alone, without a proof by the key before. */
  readonly keyByToken?: true;
  /** When its device last changed this record by itself. */
  readonly changedItselfAt?: string;
  /** Names that it had lately. */
  readonly renames?: readonly PeerRename[];
  /** Software version that the peer reported at registration. */
  readonly version?: string;
}

export interface NetworkSpec {
  readonly cidr: string;
  readonly mtu: number;
  readonly defaultAction: 'ALLOW' | 'DENY';
}

export interface NetworkStatus {
  /** The block that the network had before it was renumbered; no other network takes it while it is here. */
  readonly former?: FormerBlock;
}

export interface FormerBlock {
  readonly cidr: string;
  /** `carried`: each peer has the address at the same place of this block too. `resting`: none has it any more. */
  readonly phase: 'carried' | 'resting';
  /** Instant at which the phase ends. */
  readonly until: string;
}

export type AgentPhase = 'Pending' | 'Active' | 'Expired' | 'Revoked';

/** From narrowest to widest (docs/delegation.md#presets). */
export const PRESETS = ['isolated', 'sandboxed', 'coordinator', 'inherit'] as const;
export type PolicyPreset = (typeof PRESETS)[number];

export interface AgentSpec {
  readonly parentRef?: { readonly name: string; readonly namespace: string };
  /** Duration text, as asked for. */
  readonly ttl: string;
  readonly policyPreset: PolicyPreset;
  readonly scopes: readonly string[];
  readonly expiresAt: string;
  /** Only on a root agent: the account that answers for it and for everything below it. */
  readonly person?: PersonRef;
  /** Only on a root agent: uses that a join token made by it may have at most. */
  readonly tokenUses?: number;
  /** Only on a root agent: what a person lets its tree reach while it has no peer of its own. */
  readonly reach?: readonly EgressRule[];
  /** Rules that its parent granted it beyond the preset, inside the parent's own reach. */
  readonly egress?: readonly EgressRule[];
}

/** An account, by id and by the name it had. */
export interface PersonRef {
  readonly id: string;
  readonly name: string;
}

export interface AgentStatus {
  readonly phase: AgentPhase;
  /** Name of its MeshPeer, once it has enrolled. */
  readonly peerRef?: string;
  /** 0 for a root agent. */
  readonly depth: number;
  /** Its peer was revoked and has gone since: whoever deleted it, the agent stays barred to its end. Absent for any other. */
  readonly barred?: true;
  /** The OAuth client that a person let in as this root agent. */
  readonly client?: AgentClient;
}

/** The OAuth client that acts as an agent, at one address of this control plane. */
export interface AgentClient {
  /** Identifies client and resource together. */
  readonly key: string;
  /** As the client calls itself; nobody checked it. */
  readonly name: string;
  /** Host of the address that its codes are sent to, or the scheme of an application's own; of another issuer the host of that. */
  readonly host: string;
  /** The address of the MCP endpoint. */
  readonly resource: string;
  /** Identifier of the authorization server that vouches for it; absent for the own one. */
  readonly issuer?: string;
}

export interface PresenceSpec {
  readonly online: boolean;
  /** ISO 8601; of a peer that went offline, when it was last heard of. */
  readonly lastSeenAt?: string;
  /** Software version that the peer reported when it came or went. */
  readonly version?: string;
}

/**
 * Returns the software version that a peer reported last.
 *
 * @param heard version that the peer reported to this process
 */
export function versionOf(peer: PeerRecord, presence: PresenceSpec | undefined, heard?: string): string | undefined {
  return heard ?? presence?.version ?? peer.status.version;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    MeshPeer: { spec: PeerSpec; status: PeerStatus };
    MeshPolicy: { spec: PolicySpec; status: NoStatus };
    MeshNetwork: { spec: NetworkSpec; status: NetworkStatus };
    AgentIdentity: { spec: AgentSpec; status: AgentStatus };
    Presence: { spec: PresenceSpec; status: NoStatus };
  }
}

export type PeerRecord = StoredRecord<'MeshPeer'>;
export type PolicyRecord = StoredRecord<'MeshPolicy'>;
export type NetworkRecord = StoredRecord<'MeshNetwork'>;
export type AgentRecord = StoredRecord<'AgentIdentity'>;
export type PresenceRecord = StoredRecord<'Presence'>;

/** The name a record is stored under: each space becomes a hyphen (docs/policy.md#kinds). */
export function normalizeName(name: string): string {
  return name.replaceAll(' ', '-');
}

/** Not `.` and `..`: in an address they are no name but a way up, and who asks for them by it asks for something else. */
export const NAME_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,63}$/;

/** Pattern for new names. A leading hyphen would read as a command option; stored names keep theirs. */
export const NEW_NAME_PATTERN = /^(?!-|\.{1,2}$)[A-Za-z0-9._-]{1,63}$/;

/** The network every workspace starts with. */
export const DEFAULT_NETWORK = 'default';
