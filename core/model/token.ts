import { createHash, randomBytes } from 'node:crypto';
import { isThisMachine } from '../base/loopback.ts';

/**
 * Bearer tokens other than sessions: `mesh-<kind>-<43 base64url>` (docs/wire.md#enrolment).
 * Join and delegate tokens go on with `-` and a 16-character fingerprint of the control key, which a node checks before
 * it sends anything secret, and may end with `.` and the address of their control plane, which is no part of the secret.
 * Only the SHA-256 of a token is stored. `oat` is the access token of an OAuth client; its codes and refresh tokens (`oac`, `ort`)
 * have the same form and prove no caller.
 */
export type TokenKind = 'join' | 'dlg' | 'agt' | 'dev' | 'api' | 'oat';

const SECRET_BYTES = 32;
/** Maximum address in a token, which then has at most 242 of the 256 characters that a request accepts. */
const MAX_ADDRESS_BYTES = 128;
const WITH_ADDRESS = /^(mesh-(?:join|dlg)-[A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{1,171})$/;
const FORM = /^mesh-(join|dlg|agt|dev|api|oat)-[A-Za-z0-9_-]{43}(?:-([A-Za-z0-9_-]{16}))?$/;

/**
 * Returns a pattern that finds tokens and sessions anywhere in a text.
 *
 * @param least characters behind the kind of a token that was cut; names of peers can begin as a token does
 */
export function tokenPattern(least: number): RegExp {
  return new RegExp(
    `mesh-(?:join|dlg|agt|dev|api|oat|oac|ort)-[A-Za-z0-9_-]{${least},}(?:\\.[A-Za-z0-9_-]+)?|${SESSION}`,
    'g',
  );
}

/** RFC 7519, the compact form: its header and its claims are JSON. */
const SESSION = 'eyJ[A-Za-z0-9_-]+\\.eyJ[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)?';

/** A fresh token. `fingerprint` is required for join and delegate tokens. */
export function newToken(kind: TokenKind, fingerprint?: string): string {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return fingerprint === undefined ? `mesh-${kind}-${secret}` : `mesh-${kind}-${secret}-${fingerprint}`;
}

/**
 * Returns the join token of a rule for workloads. It follows from the name of the rule, because it is no secret: a rule that is
 * made anew has the same one, and whoever may read the rule can tell it again.
 */
export function ruleToken(workspace: string, rule: string, fingerprint: string): string {
  const digest = createHash('sha256').update(JSON.stringify(['workload rule', workspace, rule.toLowerCase()]));
  return `mesh-join-${digest.digest('base64url')}-${fingerprint}`;
}

/** The kind a text claims by its form, and the fingerprint it carries; undefined when it is no token. */
export function parseToken(text: string): { readonly kind: TokenKind; readonly fingerprint?: string } | undefined {
  const match = FORM.exec(text);
  const kind = match?.[1] as TokenKind | undefined;
  if (!kind) return undefined;
  return match?.[2] === undefined ? { kind } : { kind, fingerprint: match[2] };
}

/** Returns a token without the address that it may carry: what is proven, looked up and stored. */
export function withoutAddress(token: string): string {
  return WITH_ADDRESS.exec(token)?.[1] ?? token;
}

/**
 * Returns the address that a token carries, without a path.
 *
 * @returns null where it carries none; undefined where what follows the token is no such address, or was cut
 */
export function addressIn(token: string): string | null | undefined {
  const text = WITH_ADDRESS.exec(token)?.[2];
  if (text === undefined) return null;
  const origin = originForOthers(Buffer.from(text, 'base64url').toString());
  return origin !== undefined && text === encoded(origin) ? origin : undefined;
}

/**
 * Returns a join or delegate token with the first address of `app.publicUrls` that others reach; as it is where there is none,
 * or one of more than 128 bytes.
 */
export function withAddress(token: string, settings: PublicAddresses): string {
  const origin = publicAddress(settings);
  return origin !== undefined && origin.length < MAX_ADDRESS_BYTES ? `${token}.${encoded(origin)}` : token;
}

interface PublicAddresses {
  readonly publicUrls?: readonly string[];
}

/** Returns the first address of `app.publicUrls` that others than this machine reach. */
export function publicAddress({ publicUrls = [] }: PublicAddresses): string | undefined {
  return publicUrls.map(originForOthers).find((origin) => origin !== undefined);
}

/** Undefined for an address of this machine alone, and for what is no http(s) address. */
function originForOthers(text: string): string | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
  return isThisMachine(url.hostname) ? undefined : url.origin;
}

/** The slash tells an address that is whole from one whose end was lost. */
function encoded(origin: string): string {
  return Buffer.from(`${origin}/`).toString('base64url');
}

/** The `unique` value of a Token record: the SHA-256 of the token stands in for it. */
export function tokenKey(token: string): string {
  return `token:${createHash('sha256').update(token).digest('hex')}`;
}

/** First 16 base64url characters of the SHA-256 of the raw X25519 control key. */
export function controlKeyFingerprint(controlKey: Uint8Array): string {
  return createHash('sha256').update(controlKey).digest('base64url').slice(0, 16);
}
