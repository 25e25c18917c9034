import { createHash } from 'node:crypto';

/** RFC 9562, appendix C.2: names that are URIs. */
const URI_NAMES = Uint8Array.from(Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex'));

/** UUID version 5 (RFC 9562, 5.5): the same for the same name, always. */
export function uuidOf(name: string): string {
  const hash = createHash('sha1').update(URI_NAMES).update(`urn:mesh:oscal:${name}`).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const PLAIN = /^[A-Za-z0-9.-]$/;

/**
 * A control id as an OSCAL token, in which brackets may not be: each byte of UTF-8 that is no letter, digit, dot or hyphen
 * is `_` and two hexadecimal digits, as is a first one that is no letter. `HIPAA-164.312(b)` is `HIPAA-164.312_28b_29`.
 */
export function tokenOf(id: string): string {
  return Array.from(new TextEncoder().encode(id), (byte, index) => {
    const character = String.fromCharCode(byte);
    const isPlain = PLAIN.test(character) && (index > 0 || /[A-Za-z]/.test(character));
    return isPlain ? character : `_${byte.toString(16).padStart(2, '0')}`;
  }).join('');
}

/** The id that a token of `tokenOf` stands for. */
export function idOfToken(token: string): string {
  const bytes = Array.from(token.matchAll(/_([0-9a-f]{2})|([^_])/g), ([, hex, plain]) =>
    hex === undefined ? (plain ?? '').charCodeAt(0) : Number.parseInt(hex, 16),
  );
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
