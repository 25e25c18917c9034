import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Address } from './listener.ts';
import type { FromWorker, ToWorker, WorkerOptions } from './messages.ts';

const WORKER = new URL(`./worker${path.extname(import.meta.url)}`, import.meta.url);

/** A life of the thread that runs the broker. */
export class BusThread {
  /** Settles when the thread has ended: with its error when it failed. */
  readonly ended: Promise<Error | undefined>;
  readonly #worker: Worker;
  readonly #listening: Promise<Address>;

  constructor(options: WorkerOptions, receive: (message: FromWorker) => void) {
    const worker = new Worker(WORKER, { workerData: options, name: 'nats' });
    this.#worker = worker;
    this.ended = new Promise((resolve) => {
      let failure: Error | undefined;
      worker.once('error', (error: Error) => {
        failure = error;
      });
      worker.once('exit', () => resolve(failure));
    });
    this.#listening = new Promise<Address>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the thread of the bus ended before it listened')));
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'listening') resolve({ host: message.host, port: message.port });
        else if (message.kind === 'failed') reject(Object.assign(new Error(message.message), { code: message.code }));
        else receive(message);
      });
    });
    this.#listening.catch(() => undefined);
  }

  /** The address once the port listens. @throws Error with the system's code when it cannot */
  listening(): Promise<Address> {
    return this.#listening;
  }

  send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  /** Ends it wherever it is. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }
}
