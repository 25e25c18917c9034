import { createHmac, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { agree, KEY_BYTES } from '../seal/x25519.ts';
import { CREDENTIAL_BYTES, type RelayKeys, WORKSPACE_TAG_BYTES } from './credential.ts';
import { viewOf } from './frame.ts';
import { BYE_REASONS, type ByeReason, byeReasonOf } from './reasons.ts';

/** How a client says who it is and by what right. */
export type Hello =
  /** A node with a credential of its own. */
  | { readonly mode: 'credential'; readonly publicKey: Uint8Array; readonly credential: Uint8Array }
  /** A node that knows the shared token. */
  | { readonly mode: 'token'; readonly publicKey: Uint8Array; readonly workspace: Uint8Array }
  /** A control plane: knows the shared token, forwards nothing, pushes revocations. */
  | { readonly mode: 'control' };

export interface Challenge {
  readonly nonce: Uint8Array;
  readonly relayKey: Uint8Array;
}

export interface Ready {
  readonly keepaliveMs: number;
  readonly deadMs: number;
  readonly maxPayload: number;
  /** When the session ends unless the credential is renewed; milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface Bye {
  readonly reason: ByeReason;
  readonly retryAfterMs: number;
}

export const CHALLENGE_NONCE_BYTES = 32;
const MAC_BYTES = 32;
/** A hello is the largest payload before proof. */
export const MAX_HANDSHAKE_PAYLOAD = 1 + KEY_BYTES + CREDENTIAL_BYTES;

const MODE_CREDENTIAL = 1;
const MODE_TOKEN = 2;
const MODE_CONTROL = 3;

/** mode u8 | key 32 | credential 89, or mode u8 | key 32 | workspace 16, or mode u8 */
export function encodeHello(hello: Hello): Uint8Array {
  switch (hello.mode) {
    case 'credential':
      return Buffer.concat([Uint8Array.of(MODE_CREDENTIAL), hello.publicKey, hello.credential]);
    case 'token':
      return Buffer.concat([Uint8Array.of(MODE_TOKEN), hello.publicKey, hello.workspace]);
    case 'control':
      return Uint8Array.of(MODE_CONTROL);
    default:
      return hello satisfies never;
  }
}

export function decodeHello(payload: Uint8Array): Hello | undefined {
  const bytes = Uint8Array.from(payload);
  const publicKey = bytes.subarray(1, 1 + KEY_BYTES);
  const rest = bytes.subarray(1 + KEY_BYTES);
  switch (bytes[0]) {
    case MODE_CREDENTIAL:
      return rest.length === CREDENTIAL_BYTES ? { mode: 'credential', publicKey, credential: rest } : undefined;
    case MODE_TOKEN:
      return rest.length === WORKSPACE_TAG_BYTES ? { mode: 'token', publicKey, workspace: rest } : undefined;
    case MODE_CONTROL:
      return bytes.length === 1 ? { mode: 'control' } : undefined;
    default:
      return undefined;
  }
}

/** nonce 32 | relay key 32 */
export function encodeChallenge({ nonce, relayKey }: Challenge): Uint8Array {
  return Buffer.concat([nonce, relayKey]);
}

export function decodeChallenge(payload: Uint8Array): Challenge | undefined {
  if (payload.length !== CHALLENGE_NONCE_BYTES + KEY_BYTES) return undefined;
  const bytes = Uint8Array.from(payload);
  return { nonce: bytes.subarray(0, CHALLENGE_NONCE_BYTES), relayKey: bytes.subarray(CHALLENGE_NONCE_BYTES) };
}

/** keepalive ms u32 | dead ms u32 | largest payload u32 | session end u64 */
export function encodeReady(ready: Ready): Uint8Array {
  const bytes = new Uint8Array(20);
  const view = viewOf(bytes);
  view.setUint32(0, ready.keepaliveMs);
  view.setUint32(4, ready.deadMs);
  view.setUint32(8, ready.maxPayload);
  view.setBigUint64(12, BigInt(ready.expiresAt));
  return bytes;
}

export function decodeReady(payload: Uint8Array): Ready | undefined {
  if (payload.length < 20) return undefined;
  const view = viewOf(payload);
  return {
    keepaliveMs: view.getUint32(0),
    deadMs: view.getUint32(4),
    maxPayload: view.getUint32(8),
    expiresAt: Number(view.getBigUint64(12)),
  };
}

/** reason u8 | retry after ms u32 */
export function encodeBye({ reason, retryAfterMs }: Bye): Uint8Array {
  const bytes = new Uint8Array(5);
  bytes[0] = BYE_REASONS[reason];
  viewOf(bytes).setUint32(1, retryAfterMs);
  return bytes;
}

export function decodeBye(payload: Uint8Array): Bye | undefined {
  if (payload.length < 5) return undefined;
  return { reason: byeReasonOf(payload[0] ?? 0), retryAfterMs: viewOf(payload).getUint32(1) };
}

/**
 * Proof of the node's private key: HMAC(HKDF(X25519(node, relay), salt = nonce), hello || challenge).
 * Undefined when the other side's key is unusable.
 */
export function identityProof(
  privateKey: KeyObject,
  otherKey: Uint8Array,
  hello: Uint8Array,
  challenge: Uint8Array,
): Uint8Array | undefined {
  const secret = agree(privateKey, otherKey);
  if (secret === undefined) return undefined;
  const salt = challenge.subarray(0, CHALLENGE_NONCE_BYTES);
  const key = new Uint8Array(hkdfSync('sha256', secret, salt, 'mesh/relay/identity/v1', KEY_BYTES));
  return createHmac('sha256', key).update(hello).update(challenge).digest();
}

/** Proof of the shared token: HMAC over hello || challenge. The token itself never travels. */
export function tokenProof(keys: RelayKeys, hello: Uint8Array, challenge: Uint8Array): Uint8Array {
  return createHmac('sha256', keys.proof).update(hello).update(challenge).digest();
}

/** Compares proofs in constant time; a proof of the wrong length is wrong. */
export function sameProof(expected: readonly (Uint8Array | undefined)[], given: Uint8Array): boolean {
  if (given.length !== expected.length * MAC_BYTES) return false;
  let same = true;
  for (const [n, proof] of expected.entries()) {
    const part = given.subarray(n * MAC_BYTES, (n + 1) * MAC_BYTES);
    same = proof !== undefined && timingSafeEqual(proof, part) && same;
  }
  return same;
}
