import type { IpBytes } from '../../platform/ip.ts';
import { MAGIC_COOKIE, TRANSACTION_ID_BYTES } from './message.ts';

/** RFC 8489 section 14.1. */
export const FAMILY_IPV4 = 1;
export const FAMILY_IPV6 = 2;

/** The value of XOR-MAPPED-ADDRESS (RFC 8489 section 14.2). */
export function encodeXorAddress(ip: IpBytes, port: number, transactionId: Uint8Array): Uint8Array {
  const value = new Uint8Array(4 + ip.length);
  value[1] = ip.length === 4 ? FAMILY_IPV4 : FAMILY_IPV6;
  const view = new DataView(value.buffer);
  view.setUint16(2, port ^ (MAGIC_COOKIE >>> 16));
  value.set(ip, 4);
  applyMask(value.subarray(4), transactionId);
  return value;
}

export function decodeXorAddress(
  value: Uint8Array,
  transactionId: Uint8Array,
): { readonly ip: IpBytes; readonly port: number } | undefined {
  const family = value[1];
  const isKnown = (family === FAMILY_IPV4 && value.length === 8) || (family === FAMILY_IPV6 && value.length === 20);
  if (!isKnown || transactionId.length !== TRANSACTION_ID_BYTES) return undefined;
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const ip = Uint8Array.from(value.subarray(4));
  applyMask(ip, transactionId);
  return { ip, port: view.getUint16(2) ^ (MAGIC_COOKIE >>> 16) };
}

/** The cookie, then for IPv6 the transaction id. */
function applyMask(ip: Uint8Array, transactionId: Uint8Array): void {
  for (let n = 0; n < ip.length; n++) {
    const mask = n < 4 ? MAGIC_COOKIE >>> (24 - 8 * n) : (transactionId[n - 4] ?? 0);
    ip[n] = (ip[n] ?? 0) ^ mask;
  }
}
