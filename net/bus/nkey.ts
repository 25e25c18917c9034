import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

/**
 * Ed25519 keys as NATS writes them: base32 (RFC 4648, no padding) of a byte for the role, 32 bytes, and CRC-16 (XMODEM) of
 * both, low byte first. A seed has two bytes before: `S` and the role, in five bits each.
 */
const ROLES = { operator: 14 << 3, account: 0, user: 20 << 3 } as const;
const SEED = 18 << 3;
const KEY_BYTES = 32;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export type Role = keyof typeof ROLES;

/** A key that signs. */
export interface SigningKey {
  /** `O…`, `A…` or `U…`. */
  readonly publicKey: string;
  sign(bytes: Uint8Array): Uint8Array;
}

/** A public key as text. */
export function publicKeyText(role: Role, raw: Uint8Array): string {
  return withChecksum([ROLES[role], ...raw]);
}

/** A seed of 32 random bytes as text. */
export function seedText(role: Role, raw: Uint8Array): string {
  return withChecksum([SEED | (ROLES[role] >> 5), (ROLES[role] & 31) << 3, ...raw]);
}

/** The key of 32 random bytes. */
export function signingKey(role: Role, raw: Uint8Array): SigningKey {
  const privateKey = ed25519(raw);
  return { publicKey: publicKeyText(role, rawPublicKey(privateKey)), sign: (bytes) => sign(null, bytes, privateKey) };
}

/** Undefined where the text is no seed of that role. */
export function signingKeyOf(role: Role, seed: string): SigningKey | undefined {
  const bytes = decodeBase32(seed);
  if (bytes?.length !== KEY_BYTES + 4) return undefined;
  const raw = bytes.subarray(2, 2 + KEY_BYTES);
  return seedText(role, raw) === seed ? signingKey(role, raw) : undefined;
}

// DER of PKCS#8 up to the key itself (RFC 8410): Node imports raw keys only inside it.
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

function ed25519(raw: Uint8Array): KeyObject {
  if (raw.length !== KEY_BYTES) throw new RangeError(`A seed has ${KEY_BYTES} bytes.`);
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, raw]), format: 'der', type: 'pkcs8' });
}

function rawPublicKey(privateKey: KeyObject): Uint8Array {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES);
}

function withChecksum(bytes: readonly number[]): string {
  const sum = crc16(bytes);
  return encodeBase32([...bytes, sum & 0xff, sum >> 8]);
}

function crc16(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

function encodeBase32(bytes: readonly number[]): string {
  let [text, held, bits] = ['', 0, 0];
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31];
    held &= 0xff;
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31];
}

function decodeBase32(text: string): Uint8Array | undefined {
  const bytes: number[] = [];
  let [held, bits] = [0, 0];
  for (const letter of text) {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) return undefined;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  return Uint8Array.from(bytes);
}
