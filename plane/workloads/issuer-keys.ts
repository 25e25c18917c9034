import { createHash } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { MeshError } from '../../core/base/errors.ts';
import type { FetchDocument } from '../../core/base/ports.ts';
import { anything, list, object, text } from '../../core/base/shape.ts';
import type { WorkloadIdentity } from '../../core/model/workload-identity.ts';

/** As long as keys count without another look at their issuer. */
const FRESH_MS = 10 * 60_000;
/** A key that is not known has the issuer asked again, once in this time. */
const AGAIN_MS = 60_000;
/** Issuers whose keys are kept. */
const MAX_ISSUERS = 1_000;
const MAX_URL = 1_024;
const MAX_KEYS = 100;

const discoveryShape = object({ issuer: text(MAX_URL), jwks_uri: text(MAX_URL) });
const keysShape = object({ keys: list(anything, MAX_KEYS) });

/** An issuer, and who vouches for its server. */
export type KeySource = Pick<WorkloadIdentity, 'issuer' | 'ca'>;

/** Keys that one rule takes from a server of its own authorities are no keys of the issuer for others. */
function placeOf({ issuer, ca = '' }: KeySource): string {
  return `${issuer} ${createHash('sha256').update(ca).digest('base64url')}`;
}

interface Kept {
  readonly keys: JWTVerifyGetKey;
  /** When the issuer was asked for them. */
  readonly at: number;
}

interface Asked {
  readonly keys: Promise<JWTVerifyGetKey>;
  readonly at: number;
  /** Until an answer came, whether the one before failed. */
  hasFailed: boolean;
}

/** Public keys of issuers, found by OpenID Connect Discovery and kept for a while. */
export class IssuerKeys {
  readonly #fetch: FetchDocument;
  readonly #now: () => number;
  readonly #kept = new LRUCache<string, Kept>({ max: MAX_ISSUERS });
  readonly #asked = new LRUCache<string, Asked>({ max: MAX_ISSUERS });

  constructor(fetchDocument: FetchDocument, now: () => number) {
    this.#fetch = fetchDocument;
    this.#now = now;
  }

  /**
   * Returns the keys of an issuer. Those that are kept go on to count while it is away.
   *
   * @param isUnknown true where the keys that are kept have none for a token, which then waits for the issuer alone
   * @throws MeshError `unavailable` where the issuer does not answer as one does, and may have the key
   */
  async of(source: KeySource, isUnknown = false): Promise<JWTVerifyGetKey> {
    const place = placeOf(source);
    const kept = this.#kept.get(place);
    if (kept && !isUnknown && this.#now() - kept.at < FRESH_MS) return kept.keys;
    const asked = this.#asked.get(place);
    const answer = asked && this.#now() - asked.at < AGAIN_MS ? asked.keys : this.#askAnew(source, place);
    // An issuer that was away is asked again without anybody waiting for it whose key is known.
    if (kept && !isUnknown && asked?.hasFailed) return kept.keys;
    try {
      return await answer;
    } catch (error) {
      if (!kept || isUnknown) throw error;
      return kept.keys;
    }
  }

  #askAnew(source: KeySource, place: string): Promise<JWTVerifyGetKey> {
    const at = this.#now();
    const keys = this.#ask(source);
    const asked = { keys, at, hasFailed: this.#asked.get(place)?.hasFailed ?? false };
    this.#asked.set(place, asked);
    keys.then(
      (found) => {
        asked.hasFailed = false;
        this.#kept.set(place, { keys: found, at });
      },
      () => {
        asked.hasFailed = true;
        // With nothing to go on with, the next token has it asked again.
        if (!this.#kept.has(place)) this.#asked.delete(place);
      },
    );
    return keys;
  }

  async #ask(source: KeySource): Promise<JWTVerifyGetKey> {
    const { issuer } = source;
    const discovery = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const found = await this.#read(discovery, source, discoveryShape);
    if (found.issuer !== issuer) throw away(issuer, `it calls itself ${found.issuer}`);
    return this.#read(found.jwks_uri, source, (value) => createLocalJWKSet(keysShape(value) as JSONWebKeySet));
  }

  async #read<T>(url: string, { issuer, ca }: KeySource, parse: (value: unknown) => T): Promise<T> {
    const answer = await this.#fetch(url, ca);
    if (typeof answer === 'string') throw away(issuer, answer);
    try {
      return parse(answer.json);
    } catch {
      throw away(issuer, 'its answer is no document of an issuer');
    }
  }
}

function away(issuer: string, why: string): MeshError {
  return new MeshError('unavailable', `The keys of ${issuer} cannot be had: ${why.replace(/\.$/, '')}. Try again.`);
}
