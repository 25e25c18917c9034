import { MAX_SUBJECT_BYTES, MAX_SUBJECT_TOKENS } from './limits.ts';

/** Subjects are strings of the bytes on the wire, one character a byte; `.` parts tokens, `*` is any one, `>` the rest. */

const ANY = '*';
const REST = '>';

/** True when a subscription may use it: no empty token, `>` last, bounded tokens and bytes. */
export function isValidSubject(subject: string): boolean {
  if (subject.length > MAX_SUBJECT_BYTES) return false;
  const tokens = subject.split('.');
  if (tokens.length > MAX_SUBJECT_TOKENS) return false;
  return tokens.every((token, at) => token !== '' && (token !== REST || at === tokens.length - 1));
}

/** True when it names one subject, with no wildcard. */
export function isLiteralSubject(subject: string): boolean {
  return isValidSubject(subject) && !hasWildcard(subject);
}

/** @throws TypeError unless it can be subscribed to, in that queue group */
export function requireSubject(subject: string, queue: string | undefined): void {
  if (!isWord(subject) || !isValidSubject(subject)) throw new TypeError(`Not a subject: ${subject}`);
  if (queue !== undefined && !isWord(queue)) throw new TypeError(`Not a queue group: ${queue}`);
}

/** @throws TypeError unless a message can be published there, with that place for replies */
export function requireTarget(subject: string, reply: string | undefined): void {
  if (!isWord(subject) || !isLiteralSubject(subject)) throw new TypeError(`Not a subject to publish to: ${subject}`);
  if (reply !== undefined && !isWord(reply)) throw new TypeError(`Not a subject for replies: ${reply}`);
}

function isWord(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** True when a whole token is a wildcard; `a*b` is an ordinary token. */
export function hasWildcard(subject: string): boolean {
  return (subject.includes(ANY) || subject.includes(REST)) && subject.split('.').some(isWildcard);
}

/** True when every subject that `inner` matches is matched by `outer` too. A literal covers itself alone. */
export function covers(outer: string, inner: string): boolean {
  const wide = outer.split('.');
  const narrow = inner.split('.');
  for (const [at, token] of wide.entries()) {
    const other = narrow[at];
    if (token === REST) return other !== undefined;
    if (other === undefined || other === REST) return false;
    if (token !== ANY && token !== other) return false;
  }
  return wide.length === narrow.length;
}

/** True when some subject is matched by both. */
export function overlaps(one: string, two: string): boolean {
  const a = one.split('.');
  const b = two.split('.');
  for (let at = 0; ; at++) {
    const left = a[at];
    const right = b[at];
    if (left === undefined || right === undefined) return left === right;
    if (left === REST || right === REST) return true;
    if (left !== right && left !== ANY && right !== ANY) return false;
  }
}

function isWildcard(token: string): boolean {
  return token === ANY || token === REST;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Start value of a subject's hash. */
export const HASH_START = FNV_OFFSET | 0;

/** FNV-1a, one byte on; the parser computes it while it looks for the end of the subject. */
export function hashNext(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, FNV_PRIME);
}

/** The hash of a whole subject. */
export function hashOf(subject: string): number {
  let hash = HASH_START;
  for (let at = 0; at < subject.length; at++) hash = hashNext(hash, subject.charCodeAt(at));
  return hash;
}
