import type { Store } from '../base/ports.ts';
import { openCheckpoint, readCheckpoint } from './checkpoint.ts';
import { noteKeysOf, rootAt } from './keep-checkpoints.ts';
import type { DurableHeads, PublicLogKeys, StoredHead } from './log-keys.ts';

/** The entries of a log that a store once had and now lacks. */
export interface Loss {
  readonly workspace: string;
  /** Entries that the log had, and when that was written down. */
  readonly had: number;
  readonly until: number;
  /** Entries that it has. */
  readonly has: number;
  /** The instant of the newest entry; absent where the log is empty or has another history. */
  readonly since?: number;
}

/** A head that says nothing of its log, so that nobody knows what the store lacks of it. */
export interface LostHead {
  readonly workspace: string;
  readonly head: 'not there' | 'no checkpoint' | 'of another key';
}

type Logs = Pick<Store, 'auditTree' | 'workspaces'>;

/** All for which a start is refused: what the store lacks, and every head that does not say what it must hold. */
export async function missingIn(
  store: Logs,
  heads: Pick<DurableHeads, 'all' | 'wereKept'>,
  logs: PublicLogKeys,
): Promise<readonly (Loss | LostHead)[]> {
  const kept = heads.all();
  const unread = kept.flatMap((head) => unreadable(head, logs));
  const isRead = ({ workspace }: StoredHead) => !unread.some((lost) => lost.workspace === workspace);
  const absent = heads.wereKept() ? await headlessIn(store, heads) : [];
  return [...unread, ...absent, ...(await lossesIn(store, kept.filter(isRead)))];
}

/** Holds a store against the heads that are kept apart from it, as far as they say something. Whose key signed them is not asked here. */
export async function lossesIn(store: Pick<Logs, 'auditTree'>, heads: readonly StoredHead[]): Promise<readonly Loss[]> {
  const losses: Loss[] = [];
  for (const { workspace, note, at: until } of heads) {
    const said = readCheckpoint(note);
    if (!said) continue;
    const tree = store.auditTree(workspace);
    const has = await tree.size();
    if (said.size > has) {
      const [newest] = has > 0 ? await tree.entries(has - 1, 1) : [];
      losses.push({ workspace, had: said.size, has, until, ...(newest && { since: JSON.parse(newest).at }) });
    } else if (Buffer.compare(await rootAt(tree, said.size), said.root) !== 0) {
      losses.push({ workspace, had: said.size, has, until });
    }
  }
  return losses;
}

function unreadable({ workspace, note }: StoredHead, logs: PublicLogKeys): LostHead[] {
  if (!readCheckpoint(note)) return [{ workspace, head: 'no checkpoint' }];
  return openCheckpoint(note, noteKeysOf(logs, workspace)) ? [] : [{ workspace, head: 'of another key' }];
}

/**
 * A checkpoint goes into the database once the head is durable: a log that has one had a head. One that has none yet was
 * begun a moment before a kill.
 */
async function headlessIn(store: Logs, heads: Pick<DurableHeads, 'all'>): Promise<LostHead[]> {
  const signed = [...(await checkpointsIn(store)).keys()];
  // Looked at last: a control plane may be at work, and the head of a log is there before its checkpoint.
  const kept = new Set(heads.all().map(({ workspace }) => workspace));
  return signed.filter((name) => !kept.has(name)).map((workspace) => ({ workspace, head: 'not there' }));
}

/** Returns the newest checkpoint in the store for each log. */
export async function checkpointsIn(store: Logs): Promise<ReadonlyMap<string, string>> {
  const newest = new Map<string, string>();
  for (const workspace of await store.workspaces()) {
    const [signed] = await store.auditTree(workspace).checkpoints(1);
    if (signed) newest.set(workspace, signed.note);
  }
  return newest;
}
