import type { Bus } from '../bus/port.ts';
import type { Delivery } from './commands.ts';
import { deliveryBytes } from './control-window.ts';
import type { Credential } from './credentials.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Address, ListenerOptions } from './listener.ts';
import type { ControlSubscription, FromWorker, OutgoingMessage, ToWorker } from './messages.ts';
import type { Metrics } from './metrics.ts';
import { requireSubject, requireTarget } from './subject.ts';
import { BusThread } from './thread.ts';

/** Milliseconds until a thread that died is started again: at first, doubled each time, at most. */
const FIRST_RESTART_MS = 100;
const LONGEST_RESTART_MS = 10_000;
/** A thread that lived this long did not die of what made the one before it die. */
const HEALTHY_MS = 60_000;

export type BusChange =
  /** The thread died or could not be started; it is tried again after that time. */
  | { readonly kind: 'down'; readonly error: Error | undefined; readonly retryMs: number }
  /** It runs again; what was published meanwhile is lost, and every client comes back. */
  | { readonly kind: 'up'; readonly restarts: number }
  | { readonly kind: 'refused'; readonly count: number };

interface Handler extends ControlSubscription {
  readonly handle: (delivery: Delivery) => void;
}

/**
 * The embedded broker as the control plane sees it: started in its own thread, with a connection that has all rights.
 * Should the thread die it is started again, on the same port and with the same subscriptions and credentials.
 */
export class EmbeddedBus implements Bus {
  readonly #options: ListenerOptions;
  readonly #handlers = new Map<string, Handler>();
  readonly #credentials = new Map<string, Credential>();
  readonly #answers = new Map<number, (message: FromWorker) => void>();
  readonly #listeners = new Set<(change: BusChange) => void>();
  #thread: BusThread | undefined;
  #state: 'new' | 'up' | 'down' | 'stopped' = 'new';
  #port: number;
  #lastId = 0;
  #outgoing: OutgoingMessage[] = [];
  #restarts = 0;
  /** Deaths in a row, each soon after the last start. */
  #failures = 0;
  #startedAt = 0;
  #retry: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#port = options.port;
  }

  /** Resolves with the address once the port listens; rejects with the system's code when it cannot. */
  async start(): Promise<Address> {
    const address = await this.#run();
    this.#port = address.port;
    return address;
  }

  /** True while the broker runs. */
  get isUp(): boolean {
    return this.#state === 'up';
  }

  get maxPayload(): number {
    return this.#options.limits?.maxPayload ?? DEFAULT_LIMITS.maxPayload;
  }

  /** How often the thread was started again. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Hears when the thread dies and when it is back. */
  onChange(listener: (change: BusChange) => void): void {
    this.#listeners.add(listener);
  }

  /** Ends all connections and the thread. Idempotent. */
  stop(): Promise<void> {
    return this.#end({ kind: 'stop' });
  }

  /** Like `stop`, but clients are told first and leave evenly over the given time. */
  lameDuck(durationMs: number): Promise<void> {
    return this.#end({ kind: 'lame-duck', durationMs });
  }

  /** Calls the handler for every message on the subject, wildcards allowed. Returns how to end it. */
  subscribe(subject: string, handler: (delivery: Delivery) => void, queue?: string): () => void {
    requireSubject(subject, queue);
    const sid = String(++this.#lastId);
    const subscription = { sid, subject, ...(queue !== undefined && { queue }) };
    this.#handlers.set(sid, { ...subscription, handle: handler });
    this.#send({ kind: 'subscribe', ...subscription });
    return () => {
      this.#handlers.delete(sid);
      this.#send({ kind: 'unsubscribe', sid });
    };
  }

  /** Sends a message; those of one tick go to the broker together. */
  publish(subject: string, payload: Uint8Array, reply?: string): void {
    requireTarget(subject, reply);
    if (this.#outgoing.length === 0) queueMicrotask(() => this.#sendOutgoing());
    // A view would take its whole buffer along to the other thread.
    const own = payload.length === payload.buffer.byteLength ? payload : new Uint8Array(payload);
    this.#outgoing.push({ subject, payload: own, ...(reply !== undefined && { reply }) });
  }

  /** Resolves when the broker has handled everything said before. */
  async flush(): Promise<void> {
    this.#sendOutgoing();
    await this.#ask((id) => ({ kind: 'flush', id }));
  }

  /** Numbers for /metrics; undefined when the broker does not run. */
  async metrics(): Promise<Metrics | undefined> {
    const answer = await this.#ask((id) => ({ kind: 'metrics', id }));
    return answer?.kind === 'metrics' ? answer.metrics : undefined;
  }

  /** Adds or replaces credentials; they hold for connections made from now on. */
  setCredentials(credentials: readonly Credential[]): void {
    for (const credential of credentials) this.#credentials.set(credential.id, credential);
    this.#send({ kind: 'credentials', set: credentials, remove: [] });
  }

  /** Takes credentials away and ends the connections made with them. */
  removeCredentials(ids: readonly string[]): void {
    for (const id of ids) this.#credentials.delete(id);
    this.#send({ kind: 'credentials', set: [], remove: ids });
  }

  /**
   * Attributes the connection of a delivery to a node, which the content of the delivery has proven: the limits of that node
   * apply from now on.
   */
  identify({ connection }: Delivery, node: string): void {
    this.#send({ kind: 'identify', connection, node });
  }

  async #run(): Promise<Address> {
    const subscriptions = [...this.#handlers.values()].map(({ handle: _, ...subscription }) => subscription);
    const start = { ...this.#options, port: this.#port, subscriptions, credentials: [...this.#credentials.values()] };
    const thread = new BusThread(start, (message) => this.#receive(message));
    this.#thread = thread;
    void thread.ended.then((error) => this.#ended(thread, error));
    const address = await thread.listening();
    this.#state = 'up';
    this.#startedAt = performance.now();
    return address;
  }

  #ended(thread: BusThread, error: Error | undefined): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    for (const [id, answer] of this.#answers) answer({ kind: 'flushed', id });
    this.#answers.clear();
    if (this.#state !== 'up') return;
    if (performance.now() - this.#startedAt >= HEALTHY_MS) this.#failures = 0;
    this.#goDown(error);
  }

  #goDown(error: Error | undefined): void {
    this.#state = 'down';
    const retryMs = Math.min(LONGEST_RESTART_MS, FIRST_RESTART_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures++;
    this.#retry = setTimeout(() => void this.#restart(), retryMs);
    this.#tell({ kind: 'down', error, retryMs });
  }

  async #restart(): Promise<void> {
    try {
      await this.#run();
      this.#restarts++;
      this.#tell({ kind: 'up', restarts: this.#restarts });
    } catch (error) {
      if (this.#state === 'down') this.#goDown(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #end(last: ToWorker): Promise<void> {
    this.#ending ??= this.#endThread(last);
    return this.#ending;
  }

  async #endThread(last: ToWorker): Promise<void> {
    const wasUp = this.#state === 'up';
    this.#state = 'stopped';
    clearTimeout(this.#retry);
    const thread = this.#thread;
    if (thread === undefined) return;
    if (wasUp) thread.send(last);
    else await thread.terminate();
    await thread.ended;
  }

  #tell(change: BusChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'deliver': {
        const bytes = message.deliveries.reduce((sum, delivery) => sum + deliveryBytes(delivery), 0);
        try {
          for (const delivery of message.deliveries) this.#handlers.get(delivery.sid)?.handle(delivery);
        } finally {
          this.#send({ kind: 'acknowledge', messages: message.deliveries.length, bytes });
        }
        break;
      }
      case 'flushed':
      case 'metrics':
        this.#answers.get(message.id)?.(message);
        this.#answers.delete(message.id);
        break;
      case 'refused':
        this.#tell(message);
        break;
      case 'listening':
      case 'failed':
      case 'stopped':
        break;
      default:
        message satisfies never;
    }
  }

  #sendOutgoing(): void {
    if (this.#outgoing.length === 0) return;
    const messages = this.#outgoing;
    this.#outgoing = [];
    this.#send({ kind: 'publish', messages });
  }

  #ask(question: (id: number) => ToWorker): Promise<FromWorker | undefined> {
    if (this.#thread === undefined) return Promise.resolve(undefined);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#send(question(id));
    });
  }

  #send(message: ToWorker): void {
    this.#thread?.send(message);
  }
}
