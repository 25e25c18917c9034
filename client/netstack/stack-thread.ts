import path from 'node:path';
import { Worker } from 'node:worker_threads';

const WORKER = new URL(`./worker${path.extname(import.meta.url)}`, import.meta.url);

/** How long a program may take to end. */
const END_MS = 2_000;

export interface ThreadData {
  /** File of a program that is the stack; left out: WebAssembly in the thread. */
  readonly program: string | undefined;
}

/** The thread in which the userspace stack of a process runs. */
export class StackThread {
  /** Resolves with the reason when the thread has ended. */
  readonly ended: Promise<string>;
  readonly #worker: Worker;
  #waiting: Uint8Array[] = [];

  constructor(program: string | undefined, receive: (frames: Uint8Array) => void) {
    const workerData: ThreadData = { program };
    // Go writes its failures to the standard output, which belongs to the command.
    const worker = new Worker(WORKER, { name: 'netstack', stdout: true, stderr: true, workerData });
    this.#worker = worker;
    let reason = 'The thread of the network stack ended.';
    this.ended = new Promise((resolve) => {
      worker.on('error', ({ message }: Error) => {
        reason = message;
      });
      worker.on('exit', () => resolve(reason));
    });
    worker.on('message', receive);
  }

  /** Frames of one turn of the event loop leave together. */
  send(frame: Uint8Array): void {
    if (this.#waiting.push(frame) > 1) return;
    queueMicrotask(() => {
      const frames = this.#waiting;
      this.#waiting = [];
      const batch = new Uint8Array(frames.reduce((sum, { length }) => sum + length, 0));
      let at = 0;
      for (const one of frames) {
        batch.set(one, at);
        at += one.length;
      }
      this.#worker.postMessage(batch, [batch.buffer]);
    });
  }

  /** Ends it. The thread ends its program first, which would stay as a dead entry in the list of processes. */
  async terminate(): Promise<void> {
    const late = setTimeout(() => void this.#worker.terminate(), END_MS);
    this.#worker.postMessage(null);
    await this.ended;
    clearTimeout(late);
  }
}
