import { createHash } from 'node:crypto';
import { USERNAME_PATTERN } from './accounts.ts';

/** Longest user name less the number that makes it another one, up to `-99`. */
const MAX_LENGTH = 60;
const DIGEST_LENGTH = 16;
const MAX_READABLE = MAX_LENGTH - DIGEST_LENGTH - 1;

/**
 * Returns the user name for a verified address: the address itself where it can be one. Any other gets a digest of the whole
 * address and no `@`, so that it is nobody else's address.
 *
 * @param address in lower case
 */
export function usernameOf(address: string): string {
  if (address.length <= MAX_LENGTH && USERNAME_PATTERN.test(address)) return address;
  const digest = createHash('sha256').update(address).digest('hex').slice(0, DIGEST_LENGTH);
  const words = address.slice(0, MAX_READABLE).split(/[^a-z0-9]+/);
  return [...words, digest].filter((word) => word !== '').join('-');
}
