import { rootAt } from '../../core/audit/keep-checkpoints.ts';
import type { Contents } from './contents.ts';

/** Describes what a store has that another one lacks; undefined if each of its logs is the beginning of the other's. */
export async function notWithin(old: Contents, current: Contents): Promise<string | undefined> {
  const sizes = new Map((await current.heads()).map(({ name, size }) => [name, size]));
  for (const { name, size } of await old.heads()) {
    const has = sizes.get(name) ?? 0;
    if (has < size) return `${size - has} more ${size - has === 1 ? 'entry' : 'entries'} of the log of ${name}`;
    const [one, other] = [await rootAt(old.tree(name), size), await rootAt(current.tree(name), size)];
    if (Buffer.compare(one, other) !== 0) return `another log of ${name}`;
  }
  return undefined;
}
