import type { LogKeys, LogTrustAnchors } from '../audit/log-keys.ts';
import type { Edition } from '../base/edition.ts';
import type { Clock, Log, Store, Yaml } from '../base/ports.ts';
import type { Secret } from '../base/secret.ts';
import type { SharedState } from '../base/shared.ts';
import type { AccessTokenVerifier, AuthorizationServer } from './authorization-server.ts';
import type { Calls } from './call-trace.ts';
import type { GraphRelay, RelayGrant } from './graph.ts';
import type { IssuerRules } from './issuers.ts';
import type { KeyAllowance } from './key-allowance.ts';
import type { ReceivedHeartbeats } from './received-heartbeats.ts';
import type { ReportedPaths } from './reported-paths.ts';
import type { SignInRules } from './sign-in-rules.ts';
import type { Witnesses } from './witnesses.ts';
import type { WorkloadVerifier } from './workload-identity.ts';

/** Services that every layer above may use. Each layer adds its own; `core/workflow/services.ts` has all. */
export interface BaseServices {
  readonly store: Store;
  /** Where several control planes can have the store: what they keep together beside the records. */
  readonly shared?: SharedState | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly edition: Edition;
  readonly keys: Keyring;
  /** By which the audit logs and their checkpoints verify. */
  readonly logs: LogTrustAnchors;
  readonly settings: Settings;
  /** Last time each peer was heard of; transitions are committed as Presence. */
  readonly liveness: Liveness;
  readonly paths: ReportedPaths;
  readonly witnesses: Witnesses;
  /** Heartbeat reports that only this process received; present where other control planes need them. */
  readonly hearings?: ReceivedHeartbeats | undefined;
  /** Present for a bus elsewhere that knows nodes by a key. */
  readonly keyAllowance?: KeyAllowance | undefined;
  /** Recent calls of agents and programs. */
  readonly calls: Calls;
  readonly logins: LoginLimits;
  readonly yaml: Yaml;
  readonly workloads: WorkloadVerifier;
  /** Present where another authorization server issues the access tokens of /mcp. */
  readonly accessTokens?: AccessTokenVerifier | undefined;
  readonly nodeAccess: NodeAccess;
  /** Resolves once other work of this process had its turn: long work is done in pieces between which it waits for this. */
  nextTurn(): Promise<void>;
}

/** Access data that nodes receive besides their network. */
export interface NodeAccess {
  /** Epoch of graphs: changes when the store was restored from a backup. */
  readonly graphEpoch: string;
  /** Relays, with a fresh credential of one node, and STUN servers. */
  servers(workspace: string, publicKey: string, now: number): GraphServers;
  /**
   * Returns the token with which a node signs in to a bus that knows nodes by a key (docs/bus.md#how-a-node-signs-in);
   * undefined for any other bus.
   */
  busJwt(workspace: string, node: BusNode, now: number): string | undefined;
}

/** Servers outside the network that a graph names. */
export interface GraphServers {
  /** The first relay; null where there is none. */
  readonly relay: RelayGrant | null;
  /** Left out where there is one alone, or none. */
  readonly relays?: readonly GraphRelay[];
  readonly stun: readonly string[];
}

export interface BusNode {
  readonly uid: string;
  /** X25519, base64. */
  readonly publicKey: string;
  /** Instant at which it ends. */
  readonly expiresAt?: number;
}

/** Keys of the installation, made at first start and kept in `credentials.json`. */
export interface Keyring {
  /** Raw 32-byte X25519 key that seals and proofs are made to. */
  readonly controlKey: Uint8Array;
  readonly controlKeyId: string;
  /** Raw X25519 private key of `controlKey`, base64; seals what the control plane sends. */
  readonly controlPrivateKey: Secret;
  /** X25519 of the control private key with a peer's raw public key. */
  agree(peerPublicKey: Uint8Array): Uint8Array;
  /** Ed25519, for sessions: a compact JWS over the claims. */
  signSession(claims: {
    readonly sub: string;
    readonly jti: string;
    readonly iat: number;
    readonly exp: number;
  }): Promise<string>;
  /** Undefined when the signature, issuer or audience is wrong; expiry is the caller's to check. */
  verifySession(
    token: string,
  ): Promise<{ readonly sub: string; readonly jti: string; readonly exp: number } | undefined>;
  /** Keys that sign the checkpoints of the audit logs. */
  readonly logs: LogKeys;
  /** Shared relay token (MESH_LRP_AUTH_TOKEN or generated). */
  readonly relayToken: Secret;
}

/** Addresses and limits from the configuration that answers contain. */
export interface Settings {
  readonly version: string;
  readonly apiUrl: string;
  /** Every configured address of the API and dashboard; `apiUrl` is the first. */
  readonly publicUrls?: readonly string[];
  readonly signalingUrl: string;
  /** Relays of the installation; nodes that know only one use the first. */
  readonly relays: readonly GraphRelay[];
  /** At least one. */
  readonly stunUrls: readonly [string, ...string[]];
  /**
   * Requirement for devices to prove that they hold their private key. Where the proof is optional, a key without it must be
   * one that nobody holds.
   */
  readonly registrationProof: 'optional' | 'required';
  readonly listens: ListensAt;
  /** True while other control planes have the store open too. */
  readonly sharesStore?: boolean;
  /** Since when the key signs that checkpoints of the audit logs are signed with, ms. */
  readonly logKeySince: number;
  /** Life of a plan in ms (10 minutes). */
  readonly planTtlMs: number;
  readonly signIn: SignInRules;
  /** Issuers that sign people in; none unless set. */
  readonly issuers?: readonly IssuerRules[];
  /** Absent for the own authorization server. */
  readonly authorizationServer?: AuthorizationServer | undefined;
  /** Names of the Kubernetes clusters whose API servers judge tokens of workloads; none unless set. */
  readonly clusters?: readonly string[];
  /** Hosts, addresses and CIDRs of a local network that webhooks may be sent to. */
  readonly webhookAllow: readonly string[];
}

/** Where this process listens, as it was told to: what it knows of who may reach it. */
export interface ListensAt {
  readonly api: { readonly host: string; readonly tls: boolean };
  /** Undefined where this process has none. */
  readonly bus: ListensBus | undefined;
}

export interface ListensBus {
  readonly host: string;
  readonly auth: 'none' | 'token';
  readonly tls: boolean;
  /** Others run it. */
  readonly isElsewhere?: boolean;
}

export interface Liveness {
  /** @param wire the version of the wire that it shares with this control plane; undefined where that is unknown */
  heard(workspace: string, peerUid: string, at: number, wire?: number): void;
  lastSeen(workspace: string, peerUid: string): number | undefined;
  /** Returns the silence after which a peer is offline, in milliseconds. */
  onlineMs(workspace: string, peerUid: string): number;
  /** Which version of its software a peer says that it runs. */
  said(workspace: string, peerUid: string, version: string): void;
  version(workspace: string, peerUid: string): string | undefined;
  /** A peer asked that has no version of the wire in common with this control plane: why, until it is heard. */
  mismatched(workspace: string, peerUid: string, why: string): void;
  mismatch(workspace: string, peerUid: string): string | undefined;
  /** Two machines use the key of a peer. @returns true where that was not known */
  keyShared(workspace: string, peerUid: string, at: number): boolean;
  /** When both were last heard, ms; undefined where one machine alone has spoken for a while. */
  keySharedAt(workspace: string, peerUid: string): number | undefined;
  /** Takes one of the comings and goings that are recorded of a peer; false where it comes and goes too often. */
  mayRecord(workspace: string, peerUid: string, now: number): boolean;
  /** A peer came or went, which answers show at once and which is recorded later. */
  keepUnrecorded(workspace: string, peerUid: string, isHere: boolean): void;
  /** Notes that the recorded presence of a peer is its present one. */
  recorded(workspace: string, peerUid: string): void;
  /** Returns the presence of a peer that came or went since its record; undefined where it did neither. */
  isHere(workspace: string, peerUid: string): boolean | undefined;
  /** Others record it in these workspaces: what is not recorded of their peers is theirs to find out. */
  leaveUnrecorded(isOthers: (workspace: string) => boolean): void;
  /** Peers of a workspace that came or went since what is recorded of them. */
  unrecorded(workspace: string): readonly string[];
  forget(workspace: string, peerUid: string): void;
  /** Peers of all workspaces that are not silent for too long. */
  countOnline(now: number): number;
}

/** Bounds how often passwords and one-time codes are guessed. Logins that succeed do not count. */
export interface LoginLimits {
  /**
   * Counts an attempt before its password is looked at, so that parallel guesses count too. `knownSources` are those of the
   * account; undefined where there is no account of the name, which is counted alike.
   *
   * @throws MeshError `rate_limited` with `retryAfterSeconds`; StoreError where they are kept in a store that does not answer:
   * then nobody is let in.
   */
  attempt(origin: string, username: string, knownSources: readonly string[] | undefined): Promise<LoginAttempt>;
  /** The locks of each account. */
  locksOf(usernames: readonly string[]): Promise<ReadonlyMap<string, readonly LoginLock[]>>;
  /** Takes the locks of an account away. @returns how many there were */
  lift(username: string): Promise<number>;
}

/** Nothing of an attempt fails but `triesCode`. */
export interface LoginAttempt {
  /** Takes the attempt back, and what failed before it from there. */
  succeeded(): Promise<void>;
  /** Takes this attempt back alone: what was tried before it counts on. */
  passed(): Promise<void>;
  /** The password was right and no code was sent: counts in the minute, and towards no lock. */
  incomplete(): Promise<void>;
  /** Counts a one-time code before it is looked at. @throws MeshError `rate_limited` while codes are locked; StoreError */
  triesCode(): Promise<void>;
  /** Until when this attempt locks the account for where it came from, if it fails; undefined while more are let in. */
  readonly lockedUntil: number | undefined;
}

export interface LoginLock {
  /** An address or a network; absent for codes from all that the account did not sign in from before. */
  readonly source?: string;
  readonly until: number;
}
