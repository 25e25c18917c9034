import { createHash, createPublicKey, sign, verify } from 'node:crypto';

/** DSSE, version 1 (github.com/secure-systems-lab/dsse): a payload and its type, signed together. With Ed25519 alone. */

/** DER prefix of an Ed25519 SubjectPublicKeyInfo (RFC 8410); the 32 raw bytes follow. */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex');
/** An Ed25519 key fits on one line. */
const PEM = /^-----BEGIN PUBLIC KEY-----\r?\n([A-Za-z0-9+/=]{60})\r?\n-----END PUBLIC KEY-----\r?\n?$/;
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;

/** Returns the bytes to sign. No signed note begins with them: its first line is the name of a log. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** @param privateKey PKCS #8 PEM */
export function signPayload(payloadType: string, payload: Uint8Array, privateKey: string): Uint8Array {
  return sign(null, preAuthEncoding(payloadType, payload), privateKey);
}

/** @param publicKey raw, 32 bytes */
export function isPayloadSigned(
  payloadType: string,
  payload: Uint8Array,
  signature: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  if (signature.length !== SIGNATURE_BYTES || publicKey.length !== KEY_BYTES) return false;
  const key = createPublicKey({ key: spkiOf(publicKey), format: 'der', type: 'spki' });
  return verify(null, preAuthEncoding(payloadType, payload), key, signature);
}

/** SHA-256 of the key as SubjectPublicKeyInfo, hexadecimal: `openssl pkey -pubin -outform DER | sha256sum`. */
export function keyFingerprint(publicKey: Uint8Array): string {
  return createHash('sha256').update(spkiOf(publicKey)).digest('hex');
}

export function publicKeyPem(publicKey: Uint8Array): string {
  return `-----BEGIN PUBLIC KEY-----\n${spkiOf(publicKey).toString('base64')}\n-----END PUBLIC KEY-----\n`;
}

/** The raw key of a PEM as `publicKeyPem` writes it; undefined for any other text. */
export function parsePublicKeyPem(pem: string): Uint8Array | undefined {
  const [, encoded = ''] = PEM.exec(pem) ?? [];
  const der = Buffer.from(encoded, 'base64');
  const isEd25519 =
    der.length === ED25519_SPKI.length + KEY_BYTES && der.subarray(0, ED25519_SPKI.length).equals(ED25519_SPKI);
  return isEd25519 ? new Uint8Array(der.subarray(ED25519_SPKI.length)) : undefined;
}

function spkiOf(publicKey: Uint8Array): Buffer {
  return Buffer.concat([ED25519_SPKI, publicKey]);
}
