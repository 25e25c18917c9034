import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Those that something keeps alive, after collection: a count, whatever the load. Make them in a frame that has returned. */
export async function stillHeld<T extends object>(refs: readonly WeakRef<T>[]): Promise<T[]> {
  setFlagsFromString('--expose-gc');
  // What a WeakRef was made of or read from stays for the rest of that turn.
  await nextTurn();
  runInNewContext('gc')();
  return refs.flatMap((ref) => ref.deref() ?? []);
}
