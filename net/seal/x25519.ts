import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** Bytes of an X25519 public key, private key and shared secret, and so of a WireGuard key (RFC 7748). */
export const KEY_BYTES = 32;

/** Raw keys, as WireGuard writes them before base64. */
export interface KeyPair {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

// DER of SubjectPublicKeyInfo and PKCS#8 up to the key itself (RFC 8410): Node imports raw keys only inside these.
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

export function generateKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  return {
    privateKey: lastBytes(privateKey.export({ format: 'der', type: 'pkcs8' })),
    publicKey: lastBytes(publicKey.export({ format: 'der', type: 'spki' })),
  };
}

/** The pair that belongs to a private key. Throws RangeError unless the key has 32 bytes. */
export function keyPairOf(privateKey: Uint8Array): KeyPair {
  const publicKey = createPublicKey(importPrivateKey(privateKey)).export({ format: 'der', type: 'spki' });
  return { privateKey: Uint8Array.from(privateKey), publicKey: lastBytes(publicKey) };
}

/** A private key made ready for many agreements. Throws RangeError unless the key has 32 bytes. */
export function importPrivateKey(privateKey: Uint8Array): KeyObject {
  if (privateKey.length !== KEY_BYTES) throw new RangeError(`An X25519 private key has ${KEY_BYTES} bytes.`);
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, privateKey]), format: 'der', type: 'pkcs8' });
}

/** X25519; undefined when the public key is malformed or of low order, so that no all-zero secret is ever used. */
export function agree(privateKey: KeyObject, publicKey: Uint8Array): Uint8Array | undefined {
  if (publicKey.length !== KEY_BYTES) return undefined;
  try {
    const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
    return diffieHellman({ privateKey, publicKey: key });
  } catch {
    return undefined;
  }
}

function lastBytes(der: Uint8Array): Uint8Array {
  return Uint8Array.from(der.subarray(der.length - KEY_BYTES));
}
