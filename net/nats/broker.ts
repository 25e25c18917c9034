import type { BufferPool, Chunk } from './buffer-pool.ts';
import type { Command } from './commands.ts';
import { CredentialTable, type Grant } from './credentials.ts';
import { dueActionOf, LAST_WORDS } from './due-action.ts';
import { encodeInfo } from './info.ts';
import { DEFAULT_LIMITS, type Limits, STALL_PENDING_BYTES } from './limits.ts';
import { emptyMetrics, type Metrics } from './metrics.ts';
import { Paces } from './paces.ts';
import { isTooSlow, PendingWrites } from './pending-writes.ts';
import { CONTROL_PERMISSIONS, OPEN_PERMISSIONS } from './permissions.ts';
import { Publisher, Xorshift32 } from './publisher.ts';
import { type CloseReason, type Hub, Session, type Subscription } from './session.ts';
import type { Publication } from './sink.ts';
import { controlSource, type Source, Sources } from './sources.ts';
import { Stalls } from './stalls.ts';
import { SubscriptionTable } from './subscription-table.ts';

export interface BrokerOptions {
  /** Names this process to clients. */
  readonly serverId: string;
  /** `open`: no credential, two subject rules. `token`: a credential for each node. */
  readonly auth: 'open' | 'token';
  readonly limits?: Partial<Limits>;
  readonly host?: string;
  readonly port?: number;
  /** The TLS mode that INFO announces; undefined without TLS. */
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
  readonly credentials = new CredentialTable();
  now = 0;
  /** Bytes encoded since the last `takeCommands`. */
  fresh = 0;
  readonly #options: BrokerOptions;
  readonly #subscriptions = new SubscriptionTable();
  readonly #writes = new PendingWrites();
  readonly #publishing: Publisher;
  readonly #sessions = new Map<number, Session>();
  readonly #sources: Sources;
  #commands: Command[] = [];
  readonly #stalls: Stalls;
  #lastId = 0;
  #lameDuck = false;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#stalls = new Stalls(this.limits.stallMs, (kind, session) => this.#commands.push({ kind, session }));
    this.#sources = new Sources(this.limits);
    this.#publishing = new Publisher({
      hub: this,
      router: this.#subscriptions.router,
      stalls: this.#stalls,
      dice: new Xorshift32(options.serverId),
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
    this.#writes.drop(session);
    this.#stalls.release(session);
  }

  /** Returns the commands to carry out now. Call once a tick, and early when much is `fresh`. */
  takeCommands(): readonly Command[] {
    const writes = this.#writes.takeCommands();
    this.fresh = 0;
    if (this.#commands.length === 0) return writes;
    const commands = writes.concat(this.#commands);
    this.#commands = [];
    return commands;
  }

  /** The next bytes of a `write` command, undefined when there are none. Report `written` when the socket has them. */
  take(session: Session, now: number): Chunk | undefined {
    const chunk = this.#writes.take(session, now);
    if (chunk !== undefined) this.metrics.sent_bytes_total += chunk.bytes.length;
    return chunk;
  }

  /** The socket has taken the bytes of the last `take`; what waits behind them is the next write. */
  written(session: Session, chunk: Chunk): void {
    this.#writes.written(session, chunk);
    const waiting = session.outbox.bytes;
    if (waiting === 0) session.stallSpent = false;
    if (waiting <= STALL_PENDING_BYTES / 2 && session.waiting !== undefined) this.#stalls.release(session);
  }

  /** Pings, deadlines and expiries; call about once a second. */
  tick(now: number): void {
    this.now = now;
    for (const session of this.#sessions.values()) {
      if (!session.open || session.internal) continue;
      const overdue = dueActionOf(session, now, this.limits);
      if (overdue === undefined) continue;
      if (overdue === 'ping') session.sendPing();
      else if (overdue === 'slow') {
        this.metrics.slow_consumers_total++;
        this.#cut(session, 'slow');
      } else {
        if (overdue === 'stale') this.metrics.stale_connections_total++;
        session.fail(LAST_WORDS[overdue], overdue === 'expired' ? 'revoked' : overdue);
      }
    }
  }

  /** Ends stalls that have lasted long enough; call every few milliseconds while `stalls` is above 0. */
  tickStalls(now: number): void {
    this.now = now;
    this.#stalls.tick(now);
  }

  get pool(): BufferPool {
    return this.#writes.pool;
  }

  get crowded(): boolean {
    return this.#writes.bytes > this.limits.maxTotalPending;
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
      subscriptions: this.#subscriptions.router.size,
      subscription_bytes: this.#sources.all.held.subscriptionBytes,
      pending_bytes: this.#writes.bytes,
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
    return this.#subscriptions.add(subscription);
  }

  removeSubscription(subscription: Subscription): void {
    this.#subscriptions.remove(subscription);
  }

  wake(session: Session): void {
    this.#writes.wake(session);
  }

  overflow(session: Session): void {
    if (!session.open || session.internal || !isTooSlow(session, this.#writes.bytes, this.limits)) return;
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
