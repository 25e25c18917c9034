import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { FetchDocument } from '../../core/base/ports.ts';
import {
  type PublicKey,
  type RegisteredClient,
  type Registration,
  RegistrationError,
  readRegistration,
} from './client-ids.ts';

const MAX_URL = 512;
const MAX_CLIENTS = 1_000;
/** Fetches under way, of all clients together. */
const MAX_FETCHES = 8;
const MIN_FRESH_MS = 60_000;
const USUAL_FRESH_MS = 3_600_000;
const MAX_FRESH_MS = 86_400_000;
/** Keys are changed by their owner, who may have lost one. */
const MAX_FRESH_KEYS_MS = 600_000;
/** Of a client, tried in turn where what it signed does not name one. */
const MAX_KEYS = 8;
/** A key that its owner took back counts no longer than so, whatever its server says or how busy it is here. */
const KEPT_KEYS_MS = 2 * MAX_FRESH_KEYS_MS;
/** Fetches under way from one host. */
const MAX_FETCHES_OF_HOST = 2;
/** Whatever its server says, a client that nobody could look up again is forgotten after so long. */
const KEPT_MS = 2 * MAX_FRESH_MS;
/** A document that cannot be had is asked for again after so long. */
const FAULT_MS = 30_000;

/** The document of a client cannot be had now, or not by this caller. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  /** False where the document itself is at fault. */
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary: boolean) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

export interface ClientDocuments {
  /**
   * Returns the client whose id is the address of its metadata.
   *
   * @param mayFetch is asked where the document is not known, such as for a limit of the caller
   * @throws DocumentError
   */
  find(url: string, mayFetch: () => boolean): Promise<RegisteredClient>;
}

/** Returns true if an id is the address of a metadata document, in the one spelling that an address has. */
export function isDocumentUrl(id: string): boolean {
  const url = id.length <= MAX_URL && id.startsWith('https://') ? URL.parse(id) : null;
  if (!url || url.href !== id) return false;
  return url.pathname !== '/' && url.hash === '' && !id.endsWith('#') && url.username === '' && url.password === '';
}

/** Clients whose ids are the addresses of their metadata (client ID metadata documents), which are fetched once and kept for a while. */
export function buildClientDocuments(fetchDocument: FetchDocument, registration: Registration): ClientDocuments {
  const clients = new LRUCache<string, KnownClient>({ max: MAX_CLIENTS, ttl: KEPT_MS });
  const faults = new LRUCache<string, DocumentError>({ max: MAX_CLIENTS, ttl: FAULT_MS });
  const fetches = new Map<string, Promise<RegisteredClient>>();

  async function load(url: string): Promise<RegisteredClient> {
    try {
      const fetched = await fetchDocument(url);
      if (typeof fetched === 'string') throw new DocumentError('The metadata of the client cannot be fetched.', true);
      const { json, freshMs = USUAL_FRESH_MS } = fetched;
      const metadata = metadataIn(json);
      const keys = metadata['token_endpoint_auth_method'] === 'private_key_jwt' ? await keysOf(metadata) : undefined;
      const client = { ...clientIn(metadata, url, registration), ...(keys && { keys }) };
      const most = keys ? MAX_FRESH_KEYS_MS : MAX_FRESH_MS;
      const freshUntil = performance.now() + Math.min(Math.max(freshMs || 0, MIN_FRESH_MS), most);
      clients.set(url, { client, freshUntil }, { ttl: keys ? KEPT_KEYS_MS : KEPT_MS });
      return client;
    } catch (error) {
      if (error instanceof DocumentError) faults.set(url, error);
      throw error;
    } finally {
      fetches.delete(url);
    }
  }

  /** @throws DocumentError */
  async function keysOf({ jwks, jwks_uri: address }: Metadata): Promise<readonly PublicKey[]> {
    if ((jwks === undefined) === (address === undefined)) throw fault('A client that signs names jwks or jwks_uri.');
    if (jwks !== undefined) return readKeys(jwks);
    if (typeof address !== 'string' || !isDocumentUrl(address)) throw fault('jwks_uri is no https address.');
    const fetched = await fetchDocument(address);
    if (typeof fetched === 'string') throw new DocumentError('The keys of the client cannot be fetched.', true);
    return readKeys(fetched.json);
  }

  async function fetchOnce(url: string, mayFetch: () => boolean): Promise<RegisteredClient> {
    const underWay = fetches.get(url);
    if (underWay !== undefined) return underWay;
    const known = faults.get(url);
    if (known) throw known;
    const ofHost = [...fetches.keys()].filter((other) => new URL(other).host === new URL(url).host).length;
    if (fetches.size >= MAX_FETCHES || ofHost >= MAX_FETCHES_OF_HOST || !mayFetch()) {
      throw new DocumentError('Too many clients are new here: try again in a minute.', true);
    }
    const begun = load(url);
    fetches.set(url, begun);
    return begun;
  }

  return {
    async find(url, mayFetch) {
      const known = clients.get(url);
      if (known && known.freshUntil > performance.now()) return known.client;
      try {
        // One that is known is looked up again for whoever comes.
        return await fetchOnce(url, known ? () => true : mayFetch);
      } catch (error) {
        // While the server of a document is away, the client is the one that it was.
        if (known && error instanceof DocumentError && error.isTemporary) return known.client;
        throw error;
      }
    },
  };
}

interface KnownClient {
  readonly client: RegisteredClient;
  /** On the clock of `performance.now`. */
  readonly freshUntil: number;
}

type Metadata = Readonly<Record<string, unknown>>;

function metadataIn(json: unknown): Metadata {
  return typeof json === 'object' && json !== null ? (json as Metadata) : {};
}

/** @throws DocumentError */
function clientIn(metadata: Metadata, url: string, registration: Registration): RegisteredClient {
  if (metadata['client_id'] !== url) throw fault('The client_id in the metadata is another one.');
  const { token_endpoint_auth_method: method = 'none' } = metadata;
  if (!METHODS.includes(method) || 'client_secret' in metadata) {
    throw fault(
      'A client that is described by a document has no secret: its token_endpoint_auth_method is none or private_key_jwt.',
    );
  }
  try {
    return { ...readRegistration(metadata, registration), document: url };
  } catch (error) {
    if (error instanceof RegistrationError) throw fault(error.message);
    throw error;
  }
}

const METHODS: readonly unknown[] = ['none', 'private_key_jwt'];

/** What takes long to verify with, or is weak, is no key (RFC 8725, 3.5). */
const rsa = z
  .object({ kty: z.literal('RSA'), n: z.base64url().min(342).max(683), e: z.literal('AQAB'), d: z.never().optional() })
  .loose();
const ec = z.object({ kty: z.literal('EC'), crv: z.literal('P-256'), d: z.never().optional() }).loose();
const ed = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), d: z.never().optional() }).loose();
const keySet = z.object({
  keys: z
    .array(z.discriminatedUnion('kty', [rsa, ec, ed]))
    .min(1)
    .max(MAX_KEYS),
});

/** @throws DocumentError */
function readKeys(json: unknown): readonly PublicKey[] {
  const parsed = keySet.safeParse(json);
  if (parsed.success) return parsed.data.keys;
  throw fault(
    `The keys of the client are no set of 1 to ${MAX_KEYS} public keys: RSA of 2,048 to 4,096 bits, P-256, or Ed25519.`,
  );
}

/** The document is at fault, now and until it changes. */
function fault(message: string): DocumentError {
  return new DocumentError(message, false);
}
