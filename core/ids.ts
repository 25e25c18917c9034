import { randomBytes } from 'node:crypto';

/** What an id stands for, by its prefix (DESIGN 5.1). */
export type IdPrefix = 'w' | 'u' | 'p' | 'pol' | 'net' | 'agt' | 'snap' | 'plan' | 'wf' | 'ev' | 'tok' | 'ses' | 'r';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const BODY_LENGTH = 26;

/** A fresh id: prefix, `_`, 26 lower-case base32 characters (130 bits). Safe as a NATS subject token; never reused. */
export function newId<P extends IdPrefix>(prefix: P): `${P}_${string}` {
  let body = '';
  for (const byte of randomBytes(BODY_LENGTH)) body += ALPHABET[byte & 31];
  return `${prefix}_${body}`;
}

/** The partition of records that belong to the installation rather than to a workspace: accounts, workspaces, sessions. */
export const SYSTEM_WORKSPACE = 'w_system';
