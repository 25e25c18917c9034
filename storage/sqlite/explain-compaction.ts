import { tellCompacted } from './compact.ts';
import type { Database } from './database.ts';
import { keptRevisions, type WorkspaceRow } from './workspaces.ts';

/** Schema 3: the log says which old versions are gone; of those that were dropped before, one entry says it for each workspace. */
export function explainCompaction(database: Database): void {
  const rows = database.statement<WorkspaceRow>('SELECT * FROM workspace WHERE compacted > 0 ORDER BY id').all();
  for (const row of rows) {
    const detail = { upTo: row.compacted, keep: keptRevisions(row) };
    tellCompacted(database, row.name, detail, 'system:upgrade', Date.now());
  }
}
