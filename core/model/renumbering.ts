import { overlaps, parseCidr } from './cidr.ts';

/**
 * Both addresses of a peer hold for so long: more than any node that is online needs to hear of the new one, and enough for people
 * to change what names the old one.
 */
export const RENUMBERING_MS = 10 * 60_000;

/** Tells whether a change of block gives peers other addresses. A block that overlaps its old one widens or narrows it. */
export function isRenumbering(from: string, to: string): boolean {
  const [old, now] = [parseCidr(from), parseCidr(to)];
  return old !== undefined && now !== undefined && !overlaps(old, now);
}
