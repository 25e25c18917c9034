import type { Store } from '../base/ports.ts';
import { readCheckpoint } from './checkpoint.ts';
import { rootAt } from './keep-checkpoints.ts';
import type { KeptHead } from './log-keys.ts';

/** What a store does not hold of a log, although it once did. */
export interface Loss {
  readonly workspace: string;
  /** Entries that the log had, and when that was written down. */
  readonly had: number;
  readonly until: number;
  /** Entries that it has. */
  readonly has: number;
  /** Of the newest entry that is there; absent where there is none, or another history is there. */
  readonly since?: number;
}

/** Holds a store against the heads that are kept apart from it. Whose key signed them is not asked here. */
export async function lossesIn(store: Pick<Store, 'auditTree'>, heads: readonly KeptHead[]): Promise<readonly Loss[]> {
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
