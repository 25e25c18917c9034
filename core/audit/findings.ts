import type { StoredCheckpoint } from '../base/ports.ts';
import { formatInstant } from '../base/time.ts';
import { GrowingTree } from './tree.ts';

/** A fault of a log or of the records that it describes. The message names it. */
export interface Finding {
  readonly code:
    | 'damaged'
    | 'signature'
    | 'key_changed'
    | 'other_log'
    | 'root'
    | 'entry_changed'
    | 'entry_inserted'
    | 'entry_removed'
    | 'shortened'
    | 'forked'
    | 'order'
    | 'record_changed'
    | 'record_missing'
    | 'record_unknown'
    | 'version_changed'
    | 'version_missing'
    | 'lookup_changed'
    | 'retention_changed';
  readonly message: string;
}

/** The result of checking one log in a database, and the records that it describes. */
export interface LogReport {
  readonly workspace: string;
  readonly entries: number;
  readonly root: Uint8Array;
  readonly leaves: readonly Uint8Array[];
  /** The instant of the newest entry. */
  readonly at: number;
  /** The instant from which on records are known by their digests; undefined where that is from the beginning. */
  readonly witnessedFrom?: number;
  /** Live records and kept versions whose digests were compared. */
  readonly compared: number;
  readonly checkpoints: readonly StoredCheckpoint[];
  readonly findings: readonly Finding[];
}

/** The state of a log that somebody stored. Without its leaves it can show that the logs differ, but not where. */
export interface StoredLogState {
  readonly size: number;
  readonly root: Uint8Array;
  /** When it was seen or signed, where that is known. */
  readonly at?: number;
  /** The owner of the stored state, such as `This machine`. */
  readonly by: string;
  readonly leaves?: readonly Uint8Array[];
}

export function rootOfLeaves(leaves: readonly Uint8Array[], size = leaves.length): Uint8Array {
  const tree = new GrowingTree();
  for (const leaf of leaves.slice(0, size)) tree.append(leaf);
  return tree.root();
}

/** The roots that a log had at several sizes, in one pass; sizes beyond its end are left out. */
export function rootsAt(leaves: readonly Uint8Array[], sizes: Iterable<number>): ReadonlyMap<number, Uint8Array> {
  const wanted = new Set(sizes);
  const tree = new GrowingTree();
  const roots = new Map<number, Uint8Array>();
  if (wanted.has(0)) roots.set(0, tree.root());
  for (const leaf of leaves) {
    tree.append(leaf);
    if (wanted.has(tree.size)) roots.set(tree.size, tree.root());
  }
  return roots;
}

/**
 * How a log contradicts what was seen of it before; undefined where it only grew.
 *
 * @param newest instant of its newest entry, where that is known
 * @param rootThen its root at the size that was seen, where that is known already
 */
export function contradiction(
  leaves: readonly Uint8Array[],
  seen: StoredLogState,
  newest?: number,
  rootThen?: Uint8Array,
): Finding | undefined {
  const saw = stateText(seen);
  const at = seen.leaves && firstDifference(seen.leaves, leaves);
  if (leaves.length < seen.size) {
    const end = newest === undefined ? '' : `, the newest of ${formatInstant(newest)}`;
    const has = `${saw}; the log has ${leaves.length}${end}`;
    if (at !== undefined && at < leaves.length) return forked(`${has}, and from entry ${at} on they are others`);
    const message = `${has}: its end was cut, or an older database was restored. Entries ${leaves.length} to ${seen.size - 1} are gone.`;
    return { code: 'shortened', message };
  }
  if (Buffer.compare(rootThen ?? rootOfLeaves(leaves, seen.size), seen.root) === 0) return undefined;
  if (!seen.leaves || at === undefined) return forked(`${saw} with another root than the log has at that size`);
  return differenceFinding(saw, leaves, seen.leaves, at);
}

/** `This machine saw 12 entries on 2026-01-05T12:00:00.000Z`. */
export function stateText({ by, size, at }: StoredLogState): string {
  return `${by} saw ${size} entries${at === undefined ? '' : ` on ${formatInstant(at)}`}`;
}

/** Returns the finding for the first entry that differs. */
function differenceFinding(
  saw: string,
  leaves: readonly Uint8Array[],
  seen: readonly Uint8Array[],
  at: number,
): Finding {
  const rest = seen.length - at;
  if (isSame(leaves.slice(at + 1, at + 1 + rest), seen.slice(at))) {
    return { code: 'entry_inserted', message: `${saw}: entry ${at} was inserted among them since.` };
  }
  if (rest > 1 && isSame(leaves.slice(at, at + rest - 1), seen.slice(at + 1))) {
    return { code: 'entry_removed', message: `${saw}: entry ${at} of them was taken out since.` };
  }
  if (rest > 1 && isSame(leaves.slice(at + 1, seen.length), seen.slice(at + 1))) {
    return { code: 'entry_changed', message: `${saw}: entry ${at} of them was changed since.` };
  }
  return forked(`${saw}; from entry ${at} on the log has others`);
}

function forked(what: string): Finding {
  return {
    code: 'forked',
    message: `${what}: there are two histories. Either an older database was restored and used since, or somebody is shown another log.`,
  };
}

function firstDifference(seen: readonly Uint8Array[], leaves: readonly Uint8Array[]): number | undefined {
  const at = seen.findIndex((leaf, index) => Buffer.compare(leaf, leaves[index] ?? Buffer.of()) !== 0);
  return at < 0 ? undefined : at;
}

function isSame(some: readonly Uint8Array[], others: readonly Uint8Array[]): boolean {
  return some.length === others.length && firstDifference(some, others) === undefined;
}
