import type { IncomingMessage } from 'node:http';
import type { LogKey } from '../../core/audit/log-keys.ts';
import {
  type Infer,
  ifIs,
  instant,
  integer,
  list,
  Mismatch,
  nullable,
  object,
  oneOf,
  type Shape,
  text,
  where,
} from '../../core/base/shape.ts';
import { parseInstant } from '../../core/base/time.ts';
import { ONE_LINE, visibleLine } from '../../core/base/visible-line.ts';
import { parseCidr } from '../../core/model/cidr.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { commonWire, WIRE_HEADER, WIRE_TEXT, wireMismatch } from '../../core/model/wire.ts';
import { takenGraphShape } from '../graph-shape.ts';
import { type Lookup, socketLookup } from '../lookup.ts';
import type { CountedUse } from '../sandbox/egress-report.ts';

/** The control plane answered no, in one line whatever it sent. `code` is that of its problem body, `unknown` when something else answered. */
export class PlaneRefusal extends Error {
  override readonly name = 'PlaneRefusal';
  readonly status: number;
  readonly code: string;
  /** A name that is free, where the one that was asked for is taken. */
  readonly suggestedName: string | undefined;

  constructor(status: number, code: string, message: string, suggestedName?: string) {
    super(visibleLine(message));
    this.status = status;
    this.code = code;
    this.suggestedName = suggestedName;
  }
}

interface FailedTry {
  /** Undefined where not even one was known. */
  readonly address: string | undefined;
  /** `refused`: the address is there, and nothing takes connections at the port. `no-route`: this host has none to it. */
  readonly why: 'refused' | 'no-route' | 'silent';
}

/** The control plane was not reached, or what came back was not from it. */
export class PlaneAway extends Error {
  override readonly name = 'PlaneAway';
  /** It may be there, and did not answer in time. */
  readonly isLate: boolean;
  /** Addresses that no connection was made to. */
  readonly tries: readonly FailedTry[];

  constructor(
    message: string,
    { isLate = false, tries = [] }: { isLate?: boolean; tries?: readonly FailedTry[] } = {},
  ) {
    super(visibleLine(message));
    this.isLate = isLate;
    this.tries = tries;
  }
}

/** Asks a control plane again that was too busy to answer in time. Only for what may be asked twice. */
export async function askPatiently<T>(ask: () => Promise<T>, tries: number): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (tries <= 1 || !(error instanceof PlaneAway) || !error.isLate) throw error;
    return askPatiently(ask, tries - 1);
  }
}

const TIMEOUT_MS = 15_000;
/** A graph of 20,000 peers with 100,000 rules is some 15 MB. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;

/**
 * Fields of registrations, heartbeats and rotations since a version of the wire: an older control plane refuses what it does not know.
 * Not `leaving`: without it a heartbeat says the contrary, and to be refused is better.
 */
const SINCE: Readonly<Record<string, number>> = { version: 2, witnessed: 2, deviceToken: 2, oldKeyProof: 3 };

const line = text(4_096, ONE_LINE);
/** A signed note has lines. */
const note = text(4_096);
const problemShape = object({ code: line, title: note, detail: text(65_536) }, { suggestedName: text(63, ONE_LINE) });
const discoveryShape = object({ name: line, controlKey: line, signalingUrl: line });
const registeredShape = object(
  {
    id: line,
    name: line,
    phase: oneOf('pending', 'ready'),
    address: nullable(line),
    workspaceId: line,
    deviceToken: line,
    controlKey: line,
    signalingUrl: line,
  },
  {
    agentToken: line,
    expiresAt: line,
    busJwt: line,
    cidr: text(49, (block) => parseCidr(block) !== undefined),
  },
);
const heartbeatShape = object({ phase: line, version: integer() }, { checkpoint: nullable(note) });
const hash = text(44, /^[A-Za-z0-9+/]{43}=$/);
/** A log of 2^64 entries is proven by as many. */
const MAX_PROOF_HASHES = 64;
const proofShape = object({ hashes: list(hash, MAX_PROOF_HASHES) });
const MAX_LOG_KEYS = 1_000;
const logKeysShape = object({
  items: list(
    object({ publicKey: hash, from: instant, until: nullable(instant) }, { endorsement: nullable(note) }),
    MAX_LOG_KEYS,
  ),
});
/** The name that it has now, or why the new one has to wait for a person. */
const renamedShape = where(
  object({}, { name: line, message: line }),
  ({ name, message }) => name !== undefined || message !== undefined,
);
const rotatedShape = object({ deviceToken: line }, { busJwt: line });
const busAccessShape = object({ signalingUrl: line }, { busJwt: line });
const reportedShape = object({ reported: integer() });
const deletedShape = object({ deleted: line });

export type Registered = Infer<typeof registeredShape>;
export type BusAccess = Infer<typeof busAccessShape>;

export interface RegisterRequest {
  /** Left out by a sub-agent that is to bear its own name. */
  readonly name?: string;
  readonly platform: string;
  readonly publicKey: string;
  readonly hostname: string;
  readonly proof: string;
  readonly version: string;
  /** A control plane that does not know what is asked for says so. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly ephemeral?: true;
  readonly identity?: string;
}

interface PlaneApiOptions {
  /** Each call looks the name up and connects, and uses no connection that is there. */
  readonly isAnew?: boolean;
  /** Finds the control plane; left out: by DNS alone. */
  readonly lookup?: Lookup;
}

/** The HTTP side of the control plane, for one node. Methods throw PlaneRefusal or PlaneAway, nothing else. */
export class PlaneApi {
  readonly server: string;
  #token: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #options: PlaneApiOptions;
  /** The version of the wire that is spoken, as of the last answer. */
  #wire: number | undefined;

  constructor(server: string, token?: string, signal?: AbortSignal, options: PlaneApiOptions = {}) {
    this.server = server;
    this.#token = token;
    this.#signal = signal;
    this.#options = options;
  }

  get wire(): number | undefined {
    return this.#wire;
  }

  /** For the calls from now on. */
  useToken(token: string): void {
    this.#token = token;
  }

  discovery() {
    return this.#call('GET', '/api/v1/discovery', discoveryShape, { isPublic: true });
  }

  register(body: RegisterRequest): Promise<Registered> {
    return this.#tell('/api/v1/devices/register', registeredShape, body);
  }

  /** How this node gets to the bus now. */
  async busAccess(): Promise<BusAccess> {
    try {
      return await this.#call('GET', '/api/v1/devices/self/bus', busAccessShape);
    } catch (error) {
      // An older control plane has no bus that knows nodes by a key.
      if (error instanceof PlaneRefusal && error.status === 404) return this.discovery();
      throw error;
    }
  }

  graph(): Promise<FullGraph> {
    return this.#call('GET', '/api/v1/devices/self/graph', takenGraphShape);
  }

  heartbeat(body: object) {
    return this.#tell('/api/v1/devices/self/heartbeat', heartbeatShape, body);
  }

  /** The public keys of the audit logs, oldest first. */
  async logKeys(): Promise<LogKey[]> {
    const { items } = await this.#call('GET', '/api/v1/audit/keys', logKeysShape, { isPublic: true });
    return items.map(({ publicKey, from, until, endorsement }) => ({
      publicKey: bytesOf(publicKey),
      from: parseInstant(from),
      ...(until !== null && { until: parseInstant(until) }),
      ...(typeof endorsement === 'string' && { endorsement }),
    }));
  }

  /** Fetches the proof that the audit log of one size begins with that of a smaller one. */
  async logProof(from: number, to: number): Promise<Uint8Array[]> {
    const { hashes } = await this.#call('GET', `/api/v1/audit/proof?from=${from}&to=${to}`, proofShape);
    return hashes.map(bytesOf);
  }

  rename(name: string) {
    return this.#call('PATCH', '/api/v1/devices/self', renamedShape, { body: { name } });
  }

  /** Reports attempts of a sandbox to reach something outside of the overlay. */
  reportEgress(uses: readonly CountedUse[]) {
    return this.#call('POST', '/api/v1/devices/self/egress', reportedShape, { body: { uses } });
  }

  /** Reports what isolates a sandbox. */
  reportSandbox(about: { readonly isolation: string }) {
    return this.#call('POST', '/api/v1/devices/self/egress', reportedShape, { body: { uses: [], ...about } });
  }

  /** Removes this device. */
  leave() {
    return this.#call('DELETE', '/api/v1/devices/self', deletedShape);
  }

  rotateKey(body: Readonly<Record<'publicKey' | 'proof' | 'oldKeyProof' | 'deviceToken', string>>) {
    return this.#tell('/api/v1/devices/self/key', rotatedShape, body);
  }

  /** Posts what the control plane is new enough to know. */
  async #tell<T>(path: string, shape: Shape<T>, body: object): Promise<T> {
    if (this.#wire === undefined) await this.discovery();
    const wire = this.#wire ?? 1;
    const known = Object.fromEntries(Object.entries(body).filter(([field]) => (SINCE[field] ?? 1) <= wire));
    return this.#call('POST', path, shape, { body: known }).catch((error: unknown) => {
      // It may have been replaced by an older one.
      if (error instanceof PlaneRefusal && error.code === 'invalid_input') this.#wire = undefined;
      throw error;
    });
  }

  async #call<T>(
    method: string,
    path: string,
    shape: Shape<T>,
    { body, isPublic = false }: { body?: object; isPublic?: boolean } = {},
  ): Promise<T> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const response = await this.#send(
      method,
      path,
      {
        accept: 'application/json',
        [WIRE_HEADER]: WIRE_TEXT,
        ...(!isPublic && this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      },
      body,
      this.#signal ? AbortSignal.any([timeout, this.#signal]) : timeout,
    ).catch((error: unknown) => {
      const [isLate, tries] = [timeout.aborted, triesIn(error)];
      throw new PlaneAway(`${this.server} does not answer (${reasonOf(error)})`, { isLate, tries });
    });
    const answer = await readJson(response).catch((error: unknown) => {
      throw new PlaneAway(`${this.server} broke off its answer (${reasonOf(error)})`, { isLate: timeout.aborted });
    });
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299) {
      const problem = ifIs(problemShape, answer);
      if (!problem) throw new PlaneAway(`${this.server} answered ${status}, not as a control plane does`);
      throw new PlaneRefusal(status, problem.code, `${problem.title}: ${problem.detail}`, problem.suggestedName);
    }
    const said = response.headers[WIRE_HEADER.toLowerCase()];
    this.#wire = commonWire(said?.toString());
    const mismatch = wireMismatch('control plane', said?.toString());
    if (mismatch !== undefined) throw new PlaneRefusal(status, 'unsupported_version', mismatch);
    try {
      return shape(answer);
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      const where = error.path.join('.') || 'no JSON';
      throw new PlaneAway(`${this.server} answered something else than a control plane does (${where})`);
    }
  }

  /** By node:http, not by fetch: that alone would hold 5 MB in a node that idles. It follows no redirect. */
  #send(method: string, path: string, headers: Record<string, string>, body: object | undefined, signal: AbortSignal) {
    return new Promise<IncomingMessage>((resolve, reject) => {
      const { isAnew = false, lookup } = this.#options;
      const url = new URL(path, this.server);
      const client = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http');
      const text = body && JSON.stringify(body);
      const request = client.request(url, {
        method,
        signal,
        ...(isAnew && { agent: false }),
        ...(lookup && { lookup: socketLookup(lookup) }),
        headers: {
          ...headers,
          ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        },
      });
      request.on('error', reject);
      request.on('response', resolve);
      request.end(text);
    });
  }
}

function bytesOf(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64');
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    return undefined;
  }
}

const WHY_BY_CODE: Readonly<Record<string, FailedTry['why']>> = {
  ECONNREFUSED: 'refused',
  ENETUNREACH: 'no-route',
  // Linux answers this where IPv6 is turned off.
  EADDRNOTAVAIL: 'no-route',
};

function triesIn(error: unknown): readonly FailedTry[] {
  const failures: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  return failures.map((failure) => {
    const { code, address } = failure as NodeJS.ErrnoException & { address?: string };
    return { address, why: WHY_BY_CODE[code ?? ''] ?? 'silent' };
  });
}

function reasonOf(error: unknown): string {
  const { cause, code, message } = error as NodeJS.ErrnoException & { cause?: Error };
  // An abort has its reason in its cause.
  return cause?.message ?? code ?? message;
}
