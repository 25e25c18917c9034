import type { Command } from './commands.ts';
import { CredentialTable, type Grant } from './credentials.ts';
import { Dice } from './dice.ts';
import type { CloseReason, Hub, Subscription } from './hub.ts';
import { encodeInfo } from './info.ts';
import { DEFAULT_LIMITS, type Limits, STALL_PENDING_BYTES } from './limits.ts';
import { emptyMetrics, type Metrics } from './metrics.ts';
import { BufferPool, type Chunk } from './outbox.ts';
import { OVERDUE, overdueOf } from './overdue.ts';
import { Paces } from './paces.ts';
import { CONTROL_PERMISSIONS, OPEN_PERMISSIONS } from './permissions.ts';
import { Publishing } from './publishing.ts';
import { Router } from './router.ts';
import { Session } from './session.ts';
import type { Publication } from './sink.ts';
import { isTooSlow } from './slow.ts';
import { controlSource, type Source, Sources } from './sources.ts';
import { Stalls } from './stalls.ts';
import { subscriptionBytes } from './subscriptions.ts';

export interface BrokerOptions {
  /** Names this process to clients. */
  readonly serverId: string;
  /** `open`: no credential, two subject rules. `token`: a credential for each node. */
  readonly auth: 'open' | 'token';
  readonly limits?: Partial<Limits>;
  readonly host?: string;
  readonly port?: number;
  /** What INFO says of TLS; undefined where there is none. */
  readonly tls?: 'required' | 'available';
  /** Called in the midst of a large fan-out: carry out the commands there are, so that memory does not pile up. */
  readonly relieve?: () => void;
}

/**
 * The broker without sockets: bytes and time in, commands out. Input is handled at once; commands collect until
 * they are taken, once a tick, so that many messages to one receiver become one write.
 */
export class Broker implements Hub {
  readonly limits: Limits;
  readonly metrics: Metrics = emptyMetrics();
  readonly pool = new BufferPool();
  readonly credentials = new CredentialTable();
  now = 0;
  /** Bytes encoded since the last `takeCommands`. */
  fresh = 0;
  readonly #options: BrokerOptions;
  readonly #router = new Router<Subscription>();
  readonly #publishing: Publishing;
  readonly #sessions = new Map<number, Session>();
  readonly #sources: Sources;
  #commands: Command[] = [];
  #awake: Session[] = [];
  readonly #stalls: Stalls;
  #lastId = 0;
  #lameDuck = false;
  /** Bytes handed to sockets that they have not taken. */
  #inFlight = 0;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#stalls = new Stalls(this.limits.stallMs, (kind, session) => this.#commands.push({ kind, session }));
    this.#sources = new Sources(this.limits);
    this.#publishing = new Publishing({
      hub: this,
      router: this.#router,
      stalls: this.#stalls,
      dice: new Dice(options.serverId),
      paces: new Paces(),
      handOver: (session, delivery) => this.#commands.push({ kind: 'deliver', session, delivery }),
      relieve: options.relieve ?? (() => {}),
    });
  }

  get sessions(): Iterable<Session> {
    return this.#sessions.values();
  }

  /** A new connection: greets it with INFO, or refuses it. */
  connect(now: number, address?: string): Session {
    this.now = now;
    const session = this.#open(this.#sources.ofAddress(address ?? ''), address);
    this.metrics.connections_total++;
    session.write(this.#info(session.id, address));
    if (!session.budget.take('connections', 1)) {
      this.metrics.connections_refused_total++;
      session.fail('maximum connections exceeded', 'limit');
    }
    this.metrics.connections++;
    return session;
  }

  /** The control plane's own connection: all rights, messages come as `deliver` commands. */
  connectControl(now: number): Session {
    this.now = now;
    const session = this.#open(controlSource(), '', true);
    session.connect('{"verbose":false,"pedantic":false,"echo":false,"headers":true}');
    return session;
  }

  /** Bytes from a connection. They are not kept: the caller may use the buffer again. */
  handle(session: Session, bytes: Uint8Array, now: number): void {
    this.now = now;
    this.metrics.received_bytes_total += bytes.length;
    if (session.open) session.handle(bytes);
  }

  /** The connection is gone. */
  disconnect(session: Session, now: number): void {
    this.now = now;
    if (this.#sessions.get(session.id) !== session) return;
    this.#sessions.delete(session.id);
    if (!session.internal) this.metrics.connections--;
    this.#close(session);
    session.outbox.clear();
    this.#inFlight -= session.inFlight;
    session.inFlight = 0;
    this.#stalls.release(session);
  }

  /** What to do now. Call once a tick, and early when much is `fresh`. */
  takeCommands(): readonly Command[] {
    const writes: Command[] = [];
    this.fresh = 0;
    for (const session of this.#awake) {
      session.awake = false;
      if (session.inFlight === 0 && session.outbox.bytes > 0) writes.push({ kind: 'write', session });
    }
    if (this.#awake.length > 0) this.#awake = [];
    if (this.#commands.length === 0) return writes;
    const commands = writes.concat(this.#commands);
    this.#commands = [];
    return commands;
  }

  /** The next bytes of a `write` command, undefined when there are none. Report `written` when the socket has them. */
  take(session: Session, now: number): Chunk | undefined {
    const chunk = session.outbox.take();
    if (chunk === undefined) return undefined;
    const { length } = chunk.bytes;
    session.inFlight += length;
    session.writingSince = now;
    this.#inFlight += length;
    this.metrics.sent_bytes_total += length;
    return chunk;
  }

  /** The socket has taken the bytes of the last `take`; what waits behind them is the next write. */
  written(session: Session, chunk: Chunk): void {
    chunk.owner.give(chunk.buffer);
    this.#inFlight -= session.inFlight;
    session.inFlight = 0;
    const waiting = session.outbox.bytes;
    if (waiting > 0 && !session.awake) this.wake(session);
    if (waiting === 0) session.stallSpent = false;
    if (waiting <= STALL_PENDING_BYTES / 2 && session.waiting !== undefined) this.#stalls.release(session);
  }

  /** Pings, deadlines and expiries; call about once a second. */
  tick(now: number): void {
    this.now = now;
    for (const session of this.#sessions.values()) {
      if (!session.open || session.internal) continue;
      const overdue = overdueOf(session, now, this.limits);
      if (overdue === undefined) continue;
      if (overdue === 'ping') session.sendPing();
      else if (overdue === 'slow') {
        this.metrics.slow_consumers_total++;
        this.#cut(session, 'slow');
      } else {
        if (overdue === 'stale') this.metrics.stale_connections_total++;
        session.fail(OVERDUE[overdue], overdue === 'expired' ? 'revoked' : overdue);
      }
    }
  }

  /** Ends stalls that have lasted long enough; call every few milliseconds while `stalls` is above 0. */
  tickStalls(now: number): void {
    this.now = now;
    this.#stalls.tick(now);
  }

  /** Bytes of memory that wait for receivers. */
  get #waiting(): number {
    return this.#inFlight + this.pool.queued;
  }

  get crowded(): boolean {
    return this.#waiting > this.limits.maxTotalPending;
  }

  /** Receivers that publishers are held back for. */
  get stalls(): number {
    return this.#stalls.size;
  }

  /** Tells every client to look for another server; connections then end a few at a time with `closeSome`. */
  lameDuck(now: number): void {
    this.now = now;
    this.#lameDuck = true;
    for (const session of this.#sessions.values()) {
      if (!session.internal && session.open && session.options.protocol >= 1) session.write(this.#info(session.id));
    }
  }

  /** Ends up to `count` connections. Returns how many are left. */
  closeSome(count: number, now: number): number {
    this.now = now;
    let closed = 0;
    for (const session of this.#sessions.values()) {
      if (session.internal || !session.open) continue;
      if (closed++ < count) this.end(session, 'shutdown');
    }
    return Math.max(0, closed - count);
  }

  /** Ends the connections of a credential that is no longer good. */
  revoke(id: string, now: number): void {
    this.now = now;
    this.credentials.remove(id);
    for (const session of this.#sessions.values()) {
      if (session.open && session.credentialId === id) session.fail('User Authentication Revoked', 'revoked');
    }
  }

  snapshot(): Metrics {
    return {
      ...this.metrics,
      subscriptions: this.#router.size,
      subscription_bytes: this.#sources.all.held.subscriptionBytes,
      pending_bytes: this.#waiting,
      partial_bytes: this.#sources.all.held.partialBytes,
    };
  }

  verify(secret: string): Grant | undefined {
    return this.credentials.verify(secret, this.now);
  }

  identify(session: Session, node: string): void {
    if (session.open && !session.internal && session.source.node === undefined) this.#sources.join(session, node);
  }

  /** The same, said of a connection by its number. */
  identifyConnection(id: number, node: string, now: number): void {
    this.now = now;
    const session = this.#sessions.get(id);
    if (session !== undefined) this.identify(session, node);
  }

  addSubscription(subscription: Subscription): boolean {
    const { budget } = subscription.session;
    const bytes = subscriptionBytes(subscription);
    if (!budget.take('subscriptionBytes', bytes)) return false;
    if (!budget.take('subscriptions', 1)) {
      budget.give('subscriptionBytes', bytes);
      return false;
    }
    this.#router.add(subscription);
    return true;
  }

  removeSubscription(subscription: Subscription): void {
    const { budget } = subscription.session;
    budget.give('subscriptionBytes', subscriptionBytes(subscription));
    budget.give('subscriptions', 1);
    this.#router.remove(subscription);
  }

  wake(session: Session): void {
    session.awake = true;
    this.#awake.push(session);
  }

  overflow(session: Session): void {
    if (!session.open || session.internal || !isTooSlow(session, this.#waiting, this.limits)) return;
    this.metrics.slow_consumers_total++;
    this.#cut(session, 'slow');
  }

  end(session: Session, reason: CloseReason): void {
    if (!session.open) return;
    this.#close(session);
    this.#commands.push({ kind: 'close', session, reason, cut: false });
  }

  publish(from: Session, publication: Publication): void {
    this.#publishing.publish(from, publication);
  }

  #open(source: Source, address = '', internal = false): Session {
    const session = new Session(this, {
      id: ++this.#lastId,
      permissions: internal ? CONTROL_PERMISSIONS : OPEN_PERMISSIONS,
      awaitingAuth: !internal && this.#options.auth === 'token',
      source,
      address,
      internal,
    });
    source.sessions.add(session);
    this.#sessions.set(session.id, session);
    return session;
  }

  #close(session: Session): void {
    if (!session.open) return;
    session.close();
    this.#sources.leave(session);
  }

  #info(clientId: number, address?: string): Uint8Array {
    const { limits, auth, ...server } = this.#options;
    return encodeInfo({
      ...server,
      clientId,
      address,
      maxPayload: this.limits.maxPayload,
      authRequired: auth === 'token',
      lameDuck: this.#lameDuck,
    });
  }

  #cut(session: Session, reason: CloseReason): void {
    this.#close(session);
    session.outbox.clear();
    this.#stalls.release(session);
    this.#commands.push({ kind: 'close', session, reason, cut: true });
  }
}
