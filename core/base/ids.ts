import { randomBytes } from 'node:crypto';

/** The kind of thing that an id stands for, by its prefix (docs/policy.md#kinds). */
export type IdPrefix =
  | 'w'
  | 'u'
  | 'mem'
  | 'p'
  | 'pol'
  | 'net'
  | 'asrt'
  | 'agt'
  | 'snap'
  | 'plan'
  | 'plan_dry'
  | 'wf'
  | 'ev'
  | 'drift'
  | 'rev'
  | 'tok'
  | 'ses'
  | 'diru'
  | 'dirg'
  | 'wh'
  | 'whd'
  | 'r';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const BODY_LENGTH = 26;
/** Random bytes are drawn for so many ids at once: each draw costs more than the id. */
const POOLED_IDS = 128;
let pool: Uint8Array = new Uint8Array();
let used = 0;

/** A fresh id: prefix, `_`, 26 lower-case base32 characters (130 bits). Safe as a NATS subject token; never reused. */
export function newId<P extends IdPrefix>(prefix: P): `${P}_${string}` {
  if (used + BODY_LENGTH > pool.length) {
    pool = randomBytes(BODY_LENGTH * POOLED_IDS);
    used = 0;
  }
  let body = '';
  for (const byte of pool.subarray(used, used + BODY_LENGTH)) body += ALPHABET[byte & 31];
  used += BODY_LENGTH;
  return `${prefix}_${body}`;
}

const ID = new RegExp(`^[a-z]+(_[a-z]+)?_[${ALPHABET}]{${BODY_LENGTH}}$`);

/** Returns true for a text in the form of an id, in upper or lower case. */
export function readsAsId(text: string): boolean {
  return ID.test(text.toLowerCase());
}

/** Returns true if an id is that of an agent. */
export function isAgentId(id: string): boolean {
  return id.startsWith('agt_' satisfies `${IdPrefix}_`);
}

/** Returns true if an id is that of a plan that was only shown, and is stored nowhere. */
export function isDryRunId(id: string): boolean {
  return id.startsWith('plan_dry_' satisfies `${IdPrefix}_`);
}

/** The partition of records that belong to the installation rather than to a workspace: accounts, workspaces, sessions. */
export const SYSTEM_WORKSPACE = 'w_system';
