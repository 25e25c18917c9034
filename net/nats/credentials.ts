import { createHash, timingSafeEqual } from 'node:crypto';
import { nodePermissions, type Permissions } from './permissions.ts';

/** A node's right to use the bus. Holds no secret: only its SHA-256, in hex. */
export interface Credential {
  /** Names it in changes, for example the peer's id; one id has one secret. */
  readonly id: string;
  readonly digest: string;
  readonly workspace: string;
  readonly peer: string;
  /** Milliseconds since the epoch from which on it is refused. */
  readonly expiresAt?: number;
}

export interface Grant {
  readonly id: string;
  readonly permissions: Permissions;
  readonly expiresAt: number;
}

/** The digest under which a secret is registered. */
export function credentialDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** The credentials that may connect. The control plane fills the table; an unknown, expired or removed secret is refused. */
export class CredentialTable {
  readonly #byId = new Map<string, Credential>();
  readonly #byDigest = new Map<string, Credential>();

  /** Adds a credential, or replaces the one of the same id. */
  set(credential: Credential): void {
    this.remove(credential.id);
    this.#byId.set(credential.id, credential);
    this.#byDigest.set(credential.digest, credential);
  }

  remove(id: string): void {
    const known = this.#byId.get(id);
    if (known === undefined) return;
    this.#byId.delete(id);
    if (this.#byDigest.get(known.digest) === known) this.#byDigest.delete(known.digest);
  }

  /** The look-up is by digest, so its timing tells nothing about a secret; the comparison takes the same time always. */
  verify(secret: string, now: number): Grant | undefined {
    const digest = credentialDigest(secret);
    const known = this.#byDigest.get(digest);
    if (known === undefined || !sameDigest(known.digest, digest)) return undefined;
    const expiresAt = known.expiresAt ?? Number.POSITIVE_INFINITY;
    if (expiresAt <= now) return undefined;
    return { id: known.id, permissions: nodePermissions(known.workspace, known.peer), expiresAt };
  }
}

function sameDigest(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
