import { Budget, UNBOUNDED } from './budget.ts';
import type { BufferPool } from './buffer-pool.ts';
import { bytesOf } from './bytes.ts';
import { CONNECT_DEFAULTS, type ConnectOptions, isJsonObject, parseConnect } from './connect.ts';
import type { Grant } from './credentials.ts';
import { type Limits, MAX_SIZE_DIGITS } from './limits.ts';
import type { Metrics } from './metrics.ts';
import { Outbox } from './outbox.ts';
import { Parser } from './parser.ts';
import { maySubscribe, type Permissions } from './permissions.ts';
import type { Routable } from './router.ts';
import type { SharedBuffer } from './shared-buffer.ts';
import type { ParseError, Publication, Sink } from './sink.ts';
import type { Source } from './sources.ts';
import { isValidSubject } from './subject.ts';

/** Why a connection ended; `client` = it went away by itself. */
export type CloseReason =
  | 'client'
  | 'protocol'
  | 'payload'
  | 'unauthorized'
  | 'auth-timeout'
  | 'revoked'
  | 'slow'
  | 'stale'
  | 'limit'
  | 'shutdown';

/** The parts of the broker that a session needs. */
export interface Hub {
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly pool: BufferPool;
  /** Time of the input being handled, in milliseconds since the epoch. */
  readonly now: number;
  /** Bytes encoded since commands were last taken. */
  fresh: number;
  /** Receivers are so far behind that memory runs short. */
  readonly crowded: boolean;
  verify(secret: string): Grant | undefined;
  /** The session has proven that it is that node's: from now on it counts in the limits of this one. */
  identify(session: Session, node: string): void;
  /** False when there is no room for it, in all or in what its source may have. */
  addSubscription(subscription: Subscription): boolean;
  removeSubscription(subscription: Subscription): void;
  publish(from: Session, publication: Publication): void;
  /** The session has something to send. */
  wake(session: Session): void;
  /** The session's receiver is cut off. */
  overflow(session: Session): void;
  /** The session wants to end once its answers are written. */
  end(session: Session, reason: CloseReason): void;
}

export interface Subscription extends Routable {
  readonly session: Session;
  /** Messages on denied subjects inside its wildcard are withheld. */
  readonly filtered: boolean;
  delivered: number;
  /** Messages after which it ends; 0 = never. */
  max: number;
  open: boolean;
}

export interface SessionStart {
  readonly id: number;
  readonly permissions: Permissions;
  readonly awaitingAuth: boolean;
  /** Whose limits it counts in until it has proven whose it is. */
  readonly source: Source;
  readonly address: string;
  /** The control plane's own: its messages are handed over, not written to a socket. */
  readonly internal: boolean;
}

const NO_BYTES = new Uint8Array(0);
const OK = bytesOf('+OK\r\n');
const PING = bytesOf('PING\r\n');
const PONG = bytesOf('PONG\r\n');

/** Clients go by the first two words. */
const UNAUTHORIZED =
  'Authorization Violation (no credential of a node: one that is registered calls POST /api/v1/devices/self/key with a ' +
  'fresh key, or registers again)';

const PARSE_ERRORS: Readonly<Record<ParseError, string | undefined>> = {
  operation: 'Unknown Protocol Operation',
  arguments: undefined,
  'control-line': 'maximum control line exceeded',
  payload: 'Maximum Payload Violation',
  partial: 'Maximum Buffered Data Exceeded',
};

/** A connection: its options, rights, subscriptions and pending output. */
export class Session implements Sink {
  readonly id: number;
  readonly internal: boolean;
  readonly address: string;
  readonly outbox: Outbox;
  /** The shared resources that it holds. */
  readonly budget: Budget;
  source: Source;
  permissions: Permissions;
  options: ConnectOptions = CONNECT_DEFAULTS;
  /** The credential it presented, when one was asked for. */
  credentialId: string | undefined;
  credentialExpiresAt = Number.POSITIVE_INFINITY;
  open = true;
  awaitingAuth: boolean;
  /** The broker has noted that it has something to send. */
  awake = false;
  /** Bytes given to the socket that it has not taken yet, and since when. */
  inFlight = 0;
  writingSince = 0;
  /** It has cost its publishers one stall; reset when it has caught up. */
  stallSpent = false;
  /** Publishers held back until it catches up. */
  waiting: Set<Session> | undefined;
  stalledUntil = 0;
  /** Receivers it is held back by. */
  waits = 0;
  readonly since: number;
  nextPingAt: number;
  pingsOut = 0;
  /** A whole operation came since the last PING. */
  active = false;
  readonly #hub: Hub;
  readonly #parser: Parser;
  #subscriptions: Map<string, Subscription> | undefined;

  constructor(hub: Hub, start: SessionStart) {
    this.#hub = hub;
    this.id = start.id;
    this.internal = start.internal;
    this.permissions = start.permissions;
    this.awaitingAuth = start.awaitingAuth;
    this.address = start.address;
    this.source = start.source;
    this.budget = new Budget(UNBOUNDED, start.source.budget);
    this.since = hub.now;
    this.nextPingAt = hub.now + hub.limits.pingIntervalMs;
    this.outbox = new Outbox(hub.pool);
    this.#parser = new Parser(hub.limits, this.budget);
  }

  /** Bytes on the way to it. */
  get pending(): number {
    return this.outbox.bytes + this.inFlight;
  }

  get subscriptions(): Iterable<Subscription> {
    return this.#subscriptions?.values() ?? [];
  }

  handle(chunk: Uint8Array): void {
    const error = this.#parser.parse(chunk, this);
    if (error === undefined) return;
    this.#hub.metrics.parse_errors_total++;
    this.fail(PARSE_ERRORS[error], error === 'payload' ? 'payload' : 'protocol');
  }

  /** Stops reading and gives back what it holds; the outbox stays until it is written. */
  close(): void {
    this.open = false;
    this.#parser.release();
    for (const subscription of [...this.subscriptions]) this.remove(subscription);
  }

  /** Queues a frame in two runs, start and rest. */
  write(head: Uint8Array, tail: Uint8Array = NO_BYTES): void {
    const hub = this.#hub;
    hub.fresh += head.length + tail.length;
    const grown = this.outbox.append(head, tail);
    if (!this.awake) hub.wake(this);
    if (grown) hub.overflow(this);
  }

  /** Queues the last frame of a shared buffer. */
  note(shared: SharedBuffer, head: Uint8Array): void {
    const grown = this.outbox.note(shared, head);
    if (!this.awake) this.#hub.wake(this);
    if (grown) this.#hub.overflow(this);
  }

  error(message: string): void {
    this.write(bytesOf(`-ERR '${message}'\r\n`));
  }

  fail(message: string | undefined, reason: CloseReason): void {
    if (message !== undefined) this.error(message);
    this.#hub.end(this, reason);
  }

  sendPing(): void {
    this.pingsOut++;
    this.write(PING);
  }

  remove(subscription: Subscription): void {
    if (!subscription.open) return;
    subscription.open = false;
    this.#subscriptions?.delete(subscription.sid);
    this.#hub.removeSubscription(subscription);
  }

  connect(json: string): void {
    this.active = true;
    const options = parseConnect(json, this.options);
    if (options === undefined) {
      this.fail(undefined, 'protocol');
      return;
    }
    this.options = options;
    if (this.awaitingAuth) {
      const grant = options.credential === undefined ? undefined : this.#hub.verify(options.credential);
      if (grant === undefined) {
        this.unauthorized();
        return;
      }
      this.permissions = grant.permissions;
      this.credentialId = grant.id;
      this.credentialExpiresAt = grant.expiresAt;
      this.awaitingAuth = false;
      this.#hub.identify(this, grant.id);
    }
    this.options = { ...options, credential: undefined };
    if (options.protocol < 0 || options.protocol > 1) {
      this.fail('invalid client protocol', 'protocol');
      return;
    }
    if (options.noResponders && !options.headers) {
      this.fail('no responders requires headers support', 'protocol');
      return;
    }
    this.acknowledge();
  }

  info(json: string): void {
    this.active = true;
    if (!isJsonObject(json)) this.fail(undefined, 'protocol');
  }

  ping(): void {
    this.active = true;
    this.write(PONG);
  }

  pong(): void {
    this.active = true;
    this.pingsOut = 0;
  }

  peerError(): void {
    this.fail(undefined, 'protocol');
  }

  unauthorized(): void {
    this.#hub.metrics.auth_failures_total++;
    this.fail(UNAUTHORIZED, 'unauthorized');
  }

  subscribe(args: readonly string[]): void {
    this.active = true;
    const subject = args[0] ?? '';
    const sid = args.at(-1) ?? '';
    const queue = args.length === 3 ? args[1] : undefined;
    const known = this.#subscriptions;
    if (!isValidSubject(subject)) {
      this.error('Invalid Subject');
      return;
    }
    const verdict = maySubscribe(this.permissions, subject);
    if (verdict === 'no') {
      this.#hub.metrics.permission_violations_total++;
      const group = queue === undefined ? '' : ` using queue "${queue}"`;
      this.error(`Permissions Violation for Subscription to "${subject}"${group}`);
      return;
    }
    if (known?.has(sid) !== true) {
      const subscription = {
        session: this,
        subject,
        sid,
        queue,
        filtered: verdict === 'filtered',
        delivered: 0,
        max: 0,
        open: true,
      };
      if (!this.#hub.addSubscription(subscription)) {
        this.error('maximum subscriptions exceeded');
        return;
      }
      this.#subscriptions ??= new Map();
      this.#subscriptions.set(sid, subscription);
    }
    this.acknowledge();
  }

  unsubscribe(args: readonly string[]): void {
    this.active = true;
    const [sid = '', max = ''] = args;
    const subscription = this.#subscriptions?.get(sid);
    if (subscription !== undefined) {
      const limit = /^\d+$/.test(max) && max.length <= MAX_SIZE_DIGITS ? Number(max) : 0;
      if (limit > subscription.delivered) subscription.max = limit;
      else this.remove(subscription);
    }
    this.acknowledge();
  }

  publish(publication: Publication): void {
    this.active = true;
    if (publication.headerStart !== publication.headerEnd && !this.options.headers) {
      this.fail(undefined, 'protocol');
      return;
    }
    this.#hub.publish(this, publication);
  }

  /** `+OK` for those who asked for it. */
  acknowledge(): void {
    if (this.options.verbose) this.write(OK);
  }
}
