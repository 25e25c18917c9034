import { Worker } from 'node:worker_threads';
import type { Delivery } from './broker.ts';
import { deliveryBytes } from './control-window.ts';
import type { Credential } from './credentials.ts';
import type { Address } from './listener.ts';
import type { FromWorker, OutgoingMessage, ToWorker, WorkerOptions } from './messages.ts';
import type { Metrics } from './metrics.ts';
import { isLiteralSubject, isValidSubject } from './subject.ts';

/** The embedded broker as the control plane sees it: started in its own thread, with a connection that has all rights. */
export class EmbeddedBus {
  readonly #options: WorkerOptions;
  readonly #handlers = new Map<string, (delivery: Delivery) => void>();
  readonly #answers = new Map<number, (message: FromWorker) => void>();
  #worker: Worker | undefined;
  #lastId = 0;
  #outgoing: OutgoingMessage[] = [];
  #exited: Promise<Error | undefined> = Promise.resolve(undefined);

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Resolves with the address once the port listens; rejects with the system's code when it cannot. */
  async start(): Promise<Address> {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: this.#options, name: 'nats' });
    this.#worker = worker;
    this.#exited = new Promise((resolve) => {
      let failure: Error | undefined;
      worker.once('error', (error: Error) => {
        failure = error;
      });
      worker.once('exit', () => {
        this.#worker = undefined;
        for (const [id, answer] of this.#answers) answer({ kind: 'flushed', id });
        this.#answers.clear();
        resolve(failure);
      });
    });
    return await new Promise<Address>((resolve, reject) => {
      worker.once('error', reject);
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'listening') resolve({ host: message.host, port: message.port });
        else if (message.kind === 'failed') reject(Object.assign(new Error(message.message), { code: message.code }));
        else this.#receive(message);
      });
    });
  }

  /** Settles when the thread has ended: with its error when it was not told to. */
  get ended(): Promise<Error | undefined> {
    return this.#exited;
  }

  /** Ends all connections and the thread. Idempotent. */
  async stop(): Promise<void> {
    this.#send({ kind: 'stop' });
    await this.#exited;
  }

  /** Like `stop`, but clients are told first and leave evenly over the given time. */
  async lameDuck(durationMs: number): Promise<void> {
    this.#send({ kind: 'lame-duck', durationMs });
    await this.#exited;
  }

  /** Calls the handler for every message on the subject, wildcards allowed. Returns how to end it. */
  subscribe(subject: string, handler: (delivery: Delivery) => void, queue?: string): () => void {
    if (!isWord(subject) || !isValidSubject(subject)) throw new TypeError(`Not a subject: ${subject}`);
    if (queue !== undefined && !isWord(queue)) throw new TypeError(`Not a queue group: ${queue}`);
    const sid = String(++this.#lastId);
    this.#handlers.set(sid, handler);
    this.#send({ kind: 'subscribe', sid, subject, ...(queue !== undefined && { queue }) });
    return () => {
      this.#handlers.delete(sid);
      this.#send({ kind: 'unsubscribe', sid });
    };
  }

  /** Sends a message; those of one tick go to the broker together. */
  publish(subject: string, payload: Uint8Array, reply?: string): void {
    if (!isWord(subject) || !isLiteralSubject(subject)) throw new TypeError(`Not a subject to publish to: ${subject}`);
    if (reply !== undefined && !isWord(reply)) throw new TypeError(`Not a subject for replies: ${reply}`);
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
    this.#send({ kind: 'credentials', set: credentials, remove: [] });
  }

  /** Takes credentials away and ends the connections made with them. */
  removeCredentials(ids: readonly string[]): void {
    this.#send({ kind: 'credentials', set: [], remove: ids });
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'deliver': {
        const bytes = message.deliveries.reduce((sum, delivery) => sum + deliveryBytes(delivery), 0);
        try {
          for (const delivery of message.deliveries) this.#handlers.get(delivery.sid)?.(delivery);
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
    if (this.#worker === undefined) return Promise.resolve(undefined);
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#send(question(id));
    });
  }

  #send(message: ToWorker): void {
    this.#worker?.postMessage(message);
  }
}

function isWord(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
