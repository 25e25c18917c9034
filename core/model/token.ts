import { createHash, randomBytes } from 'node:crypto';

/**
 * Bearer tokens other than sessions: `mesh-<kind>-<43 base64url>` (docs/wire.md#enrolment).
 * Join and delegate tokens go on with `-` and a 16-character fingerprint of the control key, which a node checks before
 * it sends anything secret. Only the SHA-256 of a token is stored.
 */
export type TokenKind = 'join' | 'dlg' | 'agt' | 'dev' | 'api';

const SECRET_BYTES = 32;
const FORM = /^mesh-(join|dlg|agt|dev|api)-[A-Za-z0-9_-]{43}(?:-([A-Za-z0-9_-]{16}))?$/;

/** A fresh token. `fingerprint` is required for join and delegate tokens. */
export function newToken(kind: TokenKind, fingerprint?: string): string {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return fingerprint === undefined ? `mesh-${kind}-${secret}` : `mesh-${kind}-${secret}-${fingerprint}`;
}

/** The kind a text claims by its form, and the fingerprint it carries; undefined when it is no token. */
export function parseToken(text: string): { readonly kind: TokenKind; readonly fingerprint?: string } | undefined {
  const match = FORM.exec(text);
  const kind = match?.[1] as TokenKind | undefined;
  if (!kind) return undefined;
  return match?.[2] === undefined ? { kind } : { kind, fingerprint: match[2] };
}

/** The `unique` value of a Token record: the SHA-256 of the token stands in for it. */
export function tokenKey(token: string): string {
  return `token:${createHash('sha256').update(token).digest('hex')}`;
}

/** First 16 base64url characters of the SHA-256 of the raw X25519 control key. */
export function controlKeyFingerprint(controlKey: Uint8Array): string {
  return createHash('sha256').update(controlKey).digest('base64url').slice(0, 16);
}
