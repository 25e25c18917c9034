import { textIn } from '../if-readable.ts';

/**
 * Tells whether this process has an interface of this name. Linux only.
 *
 * `/sys/class/net` is that of whoever mounted `/sys`, which in a container may be another network namespace.
 */
export function hasInterface(name: string, table = textIn('/proc/self/net/dev')): boolean {
  return table.split('\n').some((line) => line.trimStart().startsWith(`${name}:`));
}
