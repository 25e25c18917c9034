import { Worker, type WorkerOptions } from 'node:worker_threads';
import { JsonText } from '../../core/compute/compute.ts';
import {
  type AnyCall,
  type FromThread,
  outcomeOf,
  type ToThread,
  unwrap,
  type Write,
  type Writes,
} from './messages.ts';

/** A thread that computes one call at a time. */
export interface Thread {
  /**
   * @param writes what it writes with
   * @throws MeshError or StoreError of the operation, a bug of it, or {@link ThreadDied}, after which it is of no use.
   */
  run(call: AnyCall, now: number, writes: Writes): Promise<JsonText>;
  /** True if it can take a call: false while it computes, and for ever once it died. */
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

/** How often the heap of a thread is looked at while it computes, ms: it may grow by some 100 MB in between. */
const HEAP_LOOK_MS = 50;
/** V8 ends the whole process, not always the thread alone, where a thread meets its own limit; none comes near this, MB. */
const UNREACHED_HEAP_MB = 4_096;

export interface ThreadOptions extends Pick<WorkerOptions, 'workerData'> {
  /** Heap above which the thread is ended, MB. */
  readonly heapMb: number;
}

/** Starts a thread of an entry file that calls `serveCalls`. */
export function startThread(entry: URL, { workerData, heapMb }: ThreadOptions): Thread {
  const resourceLimits = { maxOldGenerationSizeMb: UNREACHED_HEAP_MB };
  const worker = new Worker(entry, { workerData, resourceLimits, name: 'compute' });
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

  async function endIfTooLarge(): Promise<void> {
    const { used_heap_size: used } = await worker.getHeapStatistics();
    if (used <= heapMb * 1_048_576) return;
    die(`${Math.round(used / 1_048_576)} MB of heap`, true);
    await worker.terminate();
  }

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
      // A thread that has ended has no heap to tell of.
      const look = setInterval(() => void endIfTooLarge().catch(() => undefined), HEAP_LOOK_MS);
      try {
        return await new Promise<JsonText>((resolve, reject) => {
          current = { writes, resolve, reject };
          say({ kind: 'call', call, now });
        });
      } finally {
        clearInterval(look);
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
