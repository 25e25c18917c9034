import { type Store, StoreError } from './ports.ts';

/** Attempts before a write that always meets another one is given up; others may write on other control planes. */
const ATTEMPTS = 25;

const lines = new WeakMap<object, Map<string, Promise<unknown>>>();

/** Makes writes through one store wait their turn with those through another: both write to the same records. */
export function sharesTurns(one: object, other: object): void {
  lines.set(one, queueOf(other));
}

function queueOf(store: object): Map<string, Promise<unknown>> {
  const queue = lines.get(store) ?? new Map<string, Promise<unknown>>();
  lines.set(store, queue);
  return queue;
}

/**
 * Runs writes that compete for the same places of a workspace (addresses, node slots, uses of a token) one after the
 * other in this process, and again when a write of another process came between: `work` reads afresh each time.
 */
export async function inTurn<T>(store: Pick<Store, 'commit'>, workspace: string, work: () => Promise<T>): Promise<T> {
  const queue = queueOf(store);
  const before = queue.get(workspace);
  const turn = (before ?? Promise.resolve()).then(
    () => insist(work),
    () => insist(work),
  );
  queue.set(workspace, turn);
  try {
    return await turn;
  } finally {
    if (queue.get(workspace) === turn) queue.delete(workspace);
  }
}

async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= ATTEMPTS || !(error instanceof StoreError) || !isRace(error)) throw error;
    }
  }
}

function isRace({ code }: StoreError): boolean {
  return code === 'conflict' || code === 'unique' || code === 'already_exists' || code === 'not_found';
}
