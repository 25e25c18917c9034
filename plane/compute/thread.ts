import { Worker, type WorkerOptions } from 'node:worker_threads';
import { type HeavyCall, JsonText } from '../../core/compute/compute.ts';
import { type FromThread, outcomeOf, type ToThread, unwrap, type Write, type Writes } from './messages.ts';

/** A thread that computes one call at a time. */
export interface Thread {
  /**
   * @param writes what it writes with
   * @throws MeshError or StoreError of the operation, a bug of it, or {@link ThreadDied}, after which it is of no use.
   */
  run(call: HeavyCall, now: number, writes: Writes): Promise<JsonText>;
  /** Whether it can take a call: false while it computes, and for ever once it died. */
  readonly isFree: boolean;
  /** Ends it wherever it is. */
  end(): Promise<void>;
}

/** The thread ended in the middle of a call. */
export class ThreadDied extends Error {
  override readonly name = 'ThreadDied';
  readonly outOfMemory: boolean;

  constructor(why: string, outOfMemory: boolean) {
    super(why);
    this.outOfMemory = outOfMemory;
  }
}

/** Starts a thread of an entry file that calls `serveCalls`. */
export function startThread(entry: URL, options: Pick<WorkerOptions, 'workerData' | 'resourceLimits'>): Thread {
  const worker = new Worker(entry, { ...options, name: 'compute' });
  // It lives as long as the process wants to, unless it computes.
  worker.unref();
  let current: { readonly writes: Writes; resolve(text: JsonText): void; reject(error: unknown): void } | undefined;
  let death: ThreadDied | undefined;

  const die = (why: string, outOfMemory = false) => {
    death ??= new ThreadDied(why, outOfMemory);
    current?.reject(death);
  };
  worker.on('error', (error: NodeJS.ErrnoException) => die(error.message, error.code === 'ERR_WORKER_OUT_OF_MEMORY'));
  worker.on('exit', (code) => die(`exit code ${code}`));
  worker.on('message', (message: FromThread) => {
    if (message.kind === 'write') {
      if (current) void answerWrite(message.id, message.write, current.writes);
    } else {
      try {
        current?.resolve(new JsonText(unwrap(message.outcome)));
      } catch (error) {
        current?.reject(error);
      }
    }
  });
  const say = (message: ToThread) => worker.postMessage(message);

  async function answerWrite(id: number, write: Write, writes: Writes): Promise<void> {
    say({ kind: 'written', id, outcome: await outcomeOf(() => perform(write, writes)) });
  }

  return {
    get isFree() {
      return current === undefined && death === undefined;
    },
    async run(call, now, writes) {
      if (death) throw death;
      worker.ref();
      try {
        return await new Promise<JsonText>((resolve, reject) => {
          current = { writes, resolve, reject };
          say({ kind: 'call', call, now });
        });
      } finally {
        current = undefined;
        worker.unref();
      }
    },
    async end() {
      await worker.terminate();
    },
  };
}

function perform(write: Write, writes: Writes): Promise<unknown> {
  switch (write.method) {
    case 'commit':
      return writes.commit(...write.args);
    case 'record':
      return writes.record(...write.args);
    default:
      return write satisfies never;
  }
}
