/**
 * Datagrams of one length may travel coalesced: their bytes behind each other, the length of each told once, the last perhaps
 * shorter. Linux hands them over so (UDP_SEGMENT, UDP_GRO, udp(7)), and frames of the relay carry them so.
 *
 * `segment` is that length in bytes everywhere; 0 means that the bytes are one datagram alone.
 */

/** More than Linux sends at once (UDP_MAX_SEGMENTS before Linux 6.9). */
export const MAX_COALESCED = 64;

export function countOf(bytes: Uint8Array, segment: number): number {
  return segment === 0 ? 1 : Math.ceil(bytes.length / segment);
}

/** The datagrams, without a copy. */
export function* partsOf(bytes: Uint8Array, segment: number): Generator<Uint8Array> {
  if (segment === 0) yield bytes;
  else for (let at = 0; at < bytes.length; at += segment) yield bytes.subarray(at, at + segment);
}
