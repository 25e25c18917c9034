import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { viewOf } from './frame.ts';

/** 1: HMAC-SHA256 under a key derived from the shared relay token. */
const CREDENTIAL_VERSION = 1;
export const WORKSPACE_TAG_BYTES = 16;
const KEY_BYTES = 32;
const MAC_BYTES = 32;
/** ver u8 | workspace 16 | key 32 | exp u64 | HMAC 32: where each begins. */
const WORKSPACE_AT = 1;
const KEY_AT = WORKSPACE_AT + WORKSPACE_TAG_BYTES;
const EXPIRY_AT = KEY_AT + KEY_BYTES;
const MAC_AT = EXPIRY_AT + 8;
export const CREDENTIAL_BYTES = MAC_AT + MAC_BYTES;

/** The grant of a credential: this key may use the relay inside this workspace until then (milliseconds since the epoch). */
export interface RelayGrant {
  readonly workspace: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly expiresAt: number;
}

export type CredentialCheck =
  | { readonly ok: true; readonly grant: RelayGrant }
  | { readonly ok: false; readonly reason: 'malformed' | 'forged' | 'expired' };

/** The two keys that come from the shared relay token, so that neither use reveals anything to the other. */
export interface RelayKeys {
  readonly credential: Uint8Array;
  readonly proof: Uint8Array;
}

/** Throws RangeError for an empty token: an HMAC under it would be anyone's. */
export function relayKeysOf(token: string): RelayKeys {
  if (token.length === 0) throw new RangeError('The relay token is empty: set MESH_LRP_AUTH_TOKEN.');
  const derive = (use: string) => new Uint8Array(hkdfSync('sha256', token, '', `mesh/relay/${use}/v1`, KEY_BYTES));
  return { credential: derive('credential'), proof: derive('proof') };
}

/** The first 16 bytes of SHA-256 of a workspace id. */
export function workspaceTagOf(workspaceId: string): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(workspaceId).digest().subarray(0, WORKSPACE_TAG_BYTES));
}

/** A credential as text for `lrp://<credential>@host:port`. */
export function mintCredential(keys: RelayKeys, grant: RelayGrant): string {
  if (grant.workspace.length !== WORKSPACE_TAG_BYTES || grant.publicKey.length !== KEY_BYTES) {
    throw new RangeError('A relay credential needs a workspace tag of 16 bytes and a public key of 32 bytes.');
  }
  const bytes = Buffer.alloc(CREDENTIAL_BYTES);
  bytes[0] = CREDENTIAL_VERSION;
  bytes.set(grant.workspace, WORKSPACE_AT);
  bytes.set(grant.publicKey, KEY_AT);
  bytes.writeBigUInt64BE(BigInt(grant.expiresAt), EXPIRY_AT);
  bytes.set(macOf(keys, bytes), MAC_AT);
  return bytes.toString('base64url');
}

/** The bytes of a credential given as text; undefined when it is none. Says nothing about whether it is genuine. */
export function decodeCredential(text: string): Uint8Array | undefined {
  if (text.length !== Math.ceil((CREDENTIAL_BYTES * 4) / 3) || !/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  return Uint8Array.from(Buffer.from(text, 'base64url'));
}

/** Needs the shared token's keys and the time only: a relay asks nobody. */
export function checkCredential(keys: RelayKeys, bytes: Uint8Array, now: number): CredentialCheck {
  if (bytes.length !== CREDENTIAL_BYTES || bytes[0] !== CREDENTIAL_VERSION) return { ok: false, reason: 'malformed' };
  if (!timingSafeEqual(macOf(keys, bytes), bytes.subarray(MAC_AT))) return { ok: false, reason: 'forged' };
  const expiresAt = Number(viewOf(bytes).getBigUint64(EXPIRY_AT));
  if (now >= expiresAt) return { ok: false, reason: 'expired' };
  const workspace = Uint8Array.from(bytes.subarray(WORKSPACE_AT, KEY_AT));
  const publicKey = Uint8Array.from(bytes.subarray(KEY_AT, EXPIRY_AT));
  return { ok: true, grant: { workspace, publicKey, expiresAt } };
}

function macOf(keys: RelayKeys, bytes: Uint8Array): Uint8Array {
  return createHmac('sha256', keys.credential).update(bytes.subarray(0, MAC_AT)).digest();
}
