import type { Edition } from '../base/edition.ts';
import type { CallContext } from '../base/operation.ts';
import type { Clock, Log, Store, Yaml } from '../base/ports.ts';
import type { Secret } from '../base/secret.ts';
import type { LoginLimits } from '../identity/login-limits.ts';
import type { Planner } from '../intent/plan/planner.ts';
import type { RelayGrant } from '../model/graph.ts';
import type { ReportedPaths } from '../model/reported-paths.ts';
import type { NetworkStates } from '../state/states.ts';

/** What operations may reach. `bin/meshd.ts` supplies the real ones, `test/kit.ts` those of tests. */
export interface Services {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly edition: Edition;
  readonly states: NetworkStates;
  readonly keys: Keyring;
  readonly planner: Planner;
  readonly settings: Settings;
  /** Last time each peer was heard of; transitions are committed as Presence (DESIGN 5.1). */
  readonly liveness: Liveness;
  readonly paths: ReportedPaths;
  readonly logins: LoginLimits;
  readonly yaml: Yaml;
  readonly nodeAccess: NodeAccess;
  /** Runs an operation by its name, for a call that was approved. The input is checked again. */
  perform(operation: string, input: unknown, context: CallContext<Services>): Promise<unknown>;
}

/** What a heavy operation may reach: what a computing thread has too. */
export type ComputeServices = Pick<
  Services,
  'store' | 'states' | 'clock' | 'log' | 'settings' | 'planner' | 'liveness'
>;

/** What nodes are given besides their network. */
export interface NodeAccess {
  /** Of graphs: changes when the store was restored from a backup. */
  readonly graphEpoch: string;
  /** A relay address with a fresh credential of one node; null where there is no relay. */
  relayGrant(workspace: string, publicKey: string, now: number): RelayGrant | null;
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
  /** Shared relay token (MESH_LRP_AUTH_TOKEN or generated). */
  readonly relayToken: Secret;
}

/** Addresses and limits from the configuration that answers contain. */
export interface Settings {
  readonly version: string;
  readonly apiUrl: string;
  readonly signalingUrl: string;
  /** Undefined where there is no relay. */
  readonly relayAdvertiseUrl: string | undefined;
  readonly stunUrl: string;
  /** Whether a device must prove that it holds its private key. Where it need not, its key must be one that nobody holds. */
  readonly registrationProof: 'optional' | 'required';
  /** Life of a plan in ms (10 minutes). */
  readonly planTtlMs: number;
}

export interface Liveness {
  /** @returns true when this hearing brings the peer from offline to online. */
  heard(workspace: string, peerUid: string, at: number): boolean;
  lastSeen(workspace: string, peerUid: string): number | undefined;
  forget(workspace: string, peerUid: string): void;
}
