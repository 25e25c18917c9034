import type { Checkpoint } from './checkpoint.ts';

/** A key that signs checkpoints, or did. */
export interface LogKey {
  /** Raw Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly from: number;
  /** Undefined of the key in use. */
  readonly until?: number;
}

/** The keys of all logs of an installation. Private ones stay behind it. */
export interface LogKeys {
  /** What checkpoints of the log of a workspace begin with, and the name of the key that signs them. */
  originOf(workspace: string): string;
  /** Oldest first; those no longer in use too, because old checkpoints verify with them. */
  readonly keys: readonly LogKey[];
  sign(checkpoint: Checkpoint): string;
  /** Signs a payload as DSSE does, by the key in use. */
  attest(payloadType: string, payload: Uint8Array): { readonly publicKey: Uint8Array; readonly signature: Uint8Array };
}
