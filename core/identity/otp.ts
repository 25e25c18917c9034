import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Time-based one-time passwords (RFC 6238) as every authenticator app makes them: HMAC-SHA-1, six digits, 30 seconds. */
const DIGITS = 6;
const STEP_SECONDS = 30;
/** Steps before and after the present one that are good too: clocks differ, and people type. RFC 6238, 5.2. */
const SKEW_STEPS = 1;
/** RFC 4226, 4: at least 128 bits, 160 recommended. */
const SECRET_BYTES = 20;
/** RFC 4648, 6. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function newOtpSecret(): Uint8Array {
  return randomBytes(SECRET_BYTES);
}

/** The number of the time step that an instant in ms lies in. */
export function otpStep(now: number): number {
  return Math.floor(now / 1_000 / STEP_SECONDS);
}

/** The code of a step (RFC 4226, 5.3). */
export function otpCode(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/**
 * The step that a code is of, where it is good now and newer than the last step that was used: each code is good once.
 * Takes as long for a wrong code as for a right one.
 */
export function matchingStep(secret: Uint8Array, code: string, now: number, lastStep: number): number | undefined {
  const present = otpStep(now);
  let found: number | undefined;
  for (let step = Math.max(0, present - SKEW_STEPS); step <= present + SKEW_STEPS; step += 1) {
    if (sameText(otpCode(secret, step), code) && step > lastStep) found = step;
  }
  return found;
}

/** Returns the URI that authenticator apps read from a QR code (Key Uri Format of Google Authenticator, which all follow). */
export function otpUri(secret: Uint8Array, username: string, host: string): string {
  const issuer = encodeURIComponent(`Mesh ${host}`);
  const query = `secret=${base32(secret)}&issuer=${issuer}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`;
  return `otpauth://totp/${issuer}:${encodeURIComponent(username)}?${query}`;
}

/** Without padding, as authenticator apps take it. */
export function base32(bytes: Uint8Array): string {
  let bits = 0;
  let value = 0;
  let text = '';
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + BASE32[(value << (5 - bits)) & 31] : text;
}

/** In a time that does not tell where they differ. */
export function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
