import { MAX_SIZE_DIGITS } from './limits.ts';

/** The tests of single bytes and runs of bytes that the parser uses. */

export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const TAB = 9;

/** In place of an offset: what is looked for is not there yet. */
export const INCOMPLETE = -1;
/** In place of an offset: it cannot come any more. */
export const FAILED = -2;

/** ASCII letters in lower case; no other byte becomes a letter, `+` and `-` stay. */
export function lower(buffer: Uint8Array, at: number): number {
  const byte = buffer[at] as number;
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

export function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

/** Offset behind the next LF, or INCOMPLETE. */
export function lineEnd(buffer: Uint8Array, from: number): number {
  const at = buffer.indexOf(LF, from);
  return at < 0 ? INCOMPLETE : at + 1;
}

/** A size of up to MAX_SIZE_DIGITS digits, or -1. */
export function digits(buffer: Uint8Array, from: number, to: number): number {
  if (to - from > MAX_SIZE_DIGITS) return -1;
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = (buffer[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Bytes as a string of the same length. */
export function latin1(buffer: Uint8Array, from: number, to: number): string {
  return Buffer.from(buffer.buffer, buffer.byteOffset + from, to - from).toString('latin1');
}

/**
 * Encodes one byte for each character, as on the wire. The bytes have memory of their own, as a part of Node's pool keeps 64 KB
 * of it.
 */
export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

/** The same text without the longer one it may be a part of, which it would keep in memory. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
