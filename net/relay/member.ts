import { KEY_BYTES } from '../seal/x25519.ts';
import { WORKSPACE_TAG_BYTES } from './credential.ts';

/** A key in one workspace: what happens to it there is nothing to its sessions in another. */
export interface Member {
  readonly workspace: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** key 32 | workspace 16 */
export const MEMBER_BYTES = KEY_BYTES + WORKSPACE_TAG_BYTES;

export function encodeMember({ publicKey, workspace }: Member): Uint8Array {
  return Buffer.concat([publicKey, workspace], MEMBER_BYTES);
}

/** Decodes a member from the first bytes, which are copied. */
export function decodeMember(bytes: Uint8Array): Member {
  const copy = Uint8Array.from(bytes);
  return { publicKey: copy.subarray(0, KEY_BYTES), workspace: copy.subarray(KEY_BYTES, MEMBER_BYTES) };
}
