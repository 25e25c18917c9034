import { type Store, StoreError } from './ports.ts';

/** Attempts before a write that always meets another one is given up; others may write on other control planes. */
const ATTEMPTS = 25;

/** The last write that waits or runs, by workspace. */
type Queue = Map<string, Promise<unknown>>;

const queues = new WeakMap<object, Queue>();

/** Serialises writes through one store with those through another: both write to the same records. */
export function shareQueue(one: object, other: object): void {
  queues.set(one, queueOf(other));
}

function queueOf(store: object): Queue {
  const queue = queues.get(store) ?? new Map<string, Promise<unknown>>();
  queues.set(store, queue);
  return queue;
}

/**
 * Runs writes that compete for the same places of a workspace (addresses, node slots, uses of a token) one after the
 * other in this process, and again when a write of another process came between: `work` reads afresh each time.
 */
export async function serialised<T>(
  store: Pick<Store, 'commit'>,
  workspace: string,
  work: () => Promise<T>,
): Promise<T> {
  const queue = queueOf(store);
  const before = queue.get(workspace) ?? Promise.resolve();
  const run = () => retryOnConflict(work);
  const last = before.then(run, run);
  queue.set(workspace, last);
  try {
    return await last;
  } finally {
    if (queue.get(workspace) === last) queue.delete(workspace);
  }
}

async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= ATTEMPTS || !(error instanceof StoreError) || !isConflict(error)) throw error;
    }
  }
}

/** Whether another write came between; reading afresh may show a place that is still free. */
function isConflict({ code }: StoreError): boolean {
  return code === 'conflict' || code === 'unique' || code === 'already_exists' || code === 'not_found';
}
