import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import type { Delivery } from '../nats/commands.ts';
import { steadyNow } from '../nats/steady-clock.ts';
import { requireSubject, requireTarget } from '../nats/subject.ts';
import { Admission, type AdmissionMode } from './admission.ts';
import { Backlog } from './backlog.ts';
import { type BusAddress, connectionOptions } from './bus-address.ts';
import type { Bus, BusChange } from './port.ts';
import { ReconnectingConnection } from './reconnecting-connection.ts';

export interface ExternalBusOptions {
  readonly place: BusAddress;
  /** The credentials that the control plane signs in with, read at each connect. */
  readonly signIn: () => Pick<NodeConnectionOptions, 'authenticator' | 'inboxPrefix'>;
  readonly mode: AdmissionMode;
  /** It is not reached, for a reason, said at each attempt; `lost` is the server whose connection ended just now. */
  onTrouble(error: unknown, lost?: string): void;
}

export interface ExternalBusMetrics {
  readonly reconnects: number;
  readonly received: number;
  readonly paced: number;
  readonly tooLarge: number;
  readonly dropped: number;
  readonly backlogBytes: number;
}

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;
/** How long a connect may take. */
const CONNECT_MS = 2_000;
/** Two missed answers end a connection. */
const PING_MS = 5_000;
const FLUSH_MS = 1_000;
/** Until a server has said what it takes: the default of nats-server. */
const USUAL_MAX_PAYLOAD = 1_048_576;

/** The bus of servers elsewhere, with a connection that has all rights. It is tried for ever; nobody waits for it. */
export class ExternalBus implements Bus {
  readonly #options: ExternalBusOptions;
  readonly #subscriptions = new Set<(connection: NatsConnection) => void>();
  readonly #listeners = new Set<(change: BusChange) => void>();
  readonly #admission: Admission;
  readonly #backlog: Backlog;
  readonly #counts = { connects: 0, received: 0, paced: 0, tooLarge: 0, dropped: 0 };
  #kept: ReconnectingConnection | undefined;

  constructor(options: ExternalBusOptions) {
    this.#options = options;
    this.#admission = new Admission(options.mode);
    // Dropped messages are lost, as in an outage.
    this.#backlog = new Backlog(() => this.#tell('up'));
  }

  /** Begins to connect. */
  start(): void {
    const { place, signIn, onTrouble } = this.#options;
    this.#kept = new ReconnectingConnection({
      servers: place.servers,
      follows: () => true,
      connecting: (servers) => ({
        ...connectionOptions(place, servers),
        ...signIn(),
        name: 'mesh control plane',
        timeout: CONNECT_MS,
        pingInterval: PING_MS,
      }),
      firstRetryMs: FIRST_RETRY_MS,
      lastRetryMs: LAST_RETRY_MS,
      onUp: (connection) => {
        for (const begin of this.#subscriptions) begin(connection);
        this.#counts.connects += 1;
        this.#backlog.clear();
        this.#tell('up');
      },
      onDown: () => this.#tell('down'),
      onTrouble,
    });
  }

  get isUp(): boolean {
    return this.#connection !== undefined;
  }

  /** `host:port` of the server that it is connected to. */
  get server(): string | undefined {
    return this.#connection?.getServer();
  }

  get maxPayload(): number {
    return this.#connection?.info?.max_payload ?? USUAL_MAX_PAYLOAD;
  }

  get metrics(): ExternalBusMetrics {
    const { connects, ...counts } = this.#counts;
    return { ...counts, reconnects: Math.max(0, connects - 1), backlogBytes: this.#backlog.bytes };
  }

  onChange(listener: (change: BusChange) => void): void {
    this.#listeners.add(listener);
  }

  subscribe(subject: string, handler: (delivery: Delivery) => void, queue?: string): () => void {
    requireSubject(subject, queue);
    let end = () => {};
    const begin = (connection: NatsConnection) => {
      const subscription = connection.subscribe(subject, {
        ...(queue !== undefined && { queue }),
        callback: (error, message) => {
          if (error) this.#options.onTrouble(error);
          else this.#receive(message.subject, message.reply, message.data, handler);
        },
      });
      end = () => subscription.unsubscribe();
    };
    this.#subscriptions.add(begin);
    if (this.#connection) begin(this.#connection);
    return () => {
      this.#subscriptions.delete(begin);
      end();
    };
  }

  publish(subject: string, payload: Uint8Array, reply?: string): void {
    requireTarget(subject, reply);
    const connection = this.#connection;
    if (!connection) return;
    if (payload.length > this.maxPayload) {
      this.#counts.tooLarge += 1;
      return;
    }
    if (!this.#backlog.admits(payload.length)) {
      this.#counts.dropped += 1;
      return;
    }
    connection.publish(subject, payload, reply === undefined ? {} : { reply });
    this.#backlog.sent(payload.length, () => connection.flush());
  }

  /** Does nothing: the subject proves the sender of a message, or nothing does. */
  identify(): void {}

  async flush(): Promise<void> {
    await this.roundTrip().catch(() => undefined);
  }

  /** @throws Error where no server answers in time */
  async roundTrip(): Promise<void> {
    const flushed = this.#connection?.flush() ?? Promise.reject(new Error('not connected'));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('no answer in time')), FLUSH_MS);
    });
    await Promise.race([flushed, late]).finally(() => clearTimeout(timer));
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await this.flush();
    await this.#kept?.close();
  }

  get #connection(): NatsConnection | undefined {
    return this.#kept?.connection;
  }

  #receive(subject: string, reply: string | undefined, payload: Uint8Array, handler: (delivery: Delivery) => void) {
    this.#counts.received += 1;
    const admitted = this.#admission.admit(subject, reply, payload.length, steadyNow());
    if (!admitted) {
      this.#counts.paced += 1;
      return;
    }
    handler({ sid: '', subject, payload, headers: undefined, connection: 0, ...admitted });
  }

  #tell(kind: 'up' | 'down'): void {
    for (const listener of this.#listeners) listener({ kind });
  }
}
