import { createHmac, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { agree, KEY_BYTES } from '../seal/x25519.ts';
import { CREDENTIAL_BYTES, type RelayKeys, WORKSPACE_TAG_BYTES } from './credential.ts';

/** How a client says who it is, and what it will prove. */
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

export const CHALLENGE_NONCE_BYTES = 32;
const MAC_BYTES = 32;
/** A hello is the largest payload before proof. */
export const MAX_HANDSHAKE_PAYLOAD = 1 + KEY_BYTES + CREDENTIAL_BYTES;

const MODES = { credential: 1, token: 2, control: 3 } as const satisfies Record<Hello['mode'], number>;

/** mode u8 | key 32 | credential 89, or mode u8 | key 32 | workspace 16, or mode u8 */
export function encodeHello(hello: Hello): Uint8Array {
  switch (hello.mode) {
    case 'credential':
      return Buffer.concat([Uint8Array.of(MODES.credential), hello.publicKey, hello.credential]);
    case 'token':
      return Buffer.concat([Uint8Array.of(MODES.token), hello.publicKey, hello.workspace]);
    case 'control':
      return Uint8Array.of(MODES.control);
    default:
      return hello satisfies never;
  }
}

/** Copies. */
export function decodeHello(payload: Uint8Array): Hello | undefined {
  const bytes = Uint8Array.from(payload);
  const publicKey = bytes.subarray(1, 1 + KEY_BYTES);
  const rest = bytes.subarray(1 + KEY_BYTES);
  switch (bytes[0]) {
    case MODES.credential:
      return rest.length === CREDENTIAL_BYTES ? { mode: 'credential', publicKey, credential: rest } : undefined;
    case MODES.token:
      return rest.length === WORKSPACE_TAG_BYTES ? { mode: 'token', publicKey, workspace: rest } : undefined;
    case MODES.control:
      return bytes.length === 1 ? { mode: 'control' } : undefined;
    default:
      return undefined;
  }
}

/** nonce 32 | relay key 32 */
export function encodeChallenge({ nonce, relayKey }: Challenge): Uint8Array {
  return Buffer.concat([nonce, relayKey]);
}

/** Copies. */
export function decodeChallenge(payload: Uint8Array): Challenge | undefined {
  if (payload.length !== CHALLENGE_NONCE_BYTES + KEY_BYTES) return undefined;
  const bytes = Uint8Array.from(payload);
  return { nonce: bytes.subarray(0, CHALLENGE_NONCE_BYTES), relayKey: bytes.subarray(CHALLENGE_NONCE_BYTES) };
}

/**
 * Proof of the node's private key: HMAC(HKDF(X25519(node, relay), salt = nonce), hello || challenge).
 * Undefined when the other side's key is unusable.
 */
export function identityProof(
  privateKey: KeyObject,
  otherKey: Uint8Array,
  hello: Hello,
  challenge: Challenge,
): Uint8Array | undefined {
  const secret = agree(privateKey, otherKey);
  if (secret === undefined) return undefined;
  const key = new Uint8Array(hkdfSync('sha256', secret, challenge.nonce, 'mesh/relay/identity/v1', KEY_BYTES));
  return macOf(key, hello, challenge);
}

/** Proof of the shared token: HMAC over hello || challenge. The token itself never travels. */
export function tokenProof(keys: RelayKeys, hello: Hello, challenge: Challenge): Uint8Array {
  return macOf(keys.proof, hello, challenge);
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

/** Each message has one encoding, so both sides compute over the same bytes. */
function macOf(key: Uint8Array, hello: Hello, challenge: Challenge): Uint8Array {
  return createHmac('sha256', key).update(encodeHello(hello)).update(encodeChallenge(challenge)).digest();
}
