import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { WorkspaceRecord } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';

/** Every workspace, kept in memory because each request names one. */
export interface WorkspaceDirectory {
  /** By id, slug or namespace, in this order: a word that two workspaces claim, which is old, is the slug of one. */
  find(name: string): Promise<WorkspaceRecord | undefined>;
  all(): Promise<readonly WorkspaceRecord[]>;
  close(): void;
}

/** Reads the workspaces on first use and again after one of them changed. */
export function buildWorkspaceDirectory({ store }: Pick<NetworkServices, 'store'>): WorkspaceDirectory {
  let known: Entries | undefined;
  let generation = 0;
  const close = store.onCommit(({ workspace, changes }) => {
    if (workspace !== SYSTEM_WORKSPACE || !changes.some(({ record }) => record.kind === 'Workspace')) return;
    generation += 1;
    known = undefined;
  });

  async function load(): Promise<Entries> {
    const started = generation;
    const { items } = await store.list(SYSTEM_WORKSPACE, 'Workspace');
    const entries = entriesOf(items);
    // A change that came while reading may not be in what was read.
    if (generation === started) known = entries;
    return entries;
  }

  return {
    async find(name) {
      return (known ?? (await load())).byName.get(name);
    },
    async all() {
      return (known ?? (await load())).all;
    },
    close,
  };
}

interface Entries {
  readonly all: readonly WorkspaceRecord[];
  readonly byName: ReadonlyMap<string, WorkspaceRecord>;
}

function entriesOf(all: readonly WorkspaceRecord[]): Entries {
  const byName = new Map<string, WorkspaceRecord>();
  for (const record of all) byName.set(record.spec.namespace, record);
  for (const record of all) byName.set(record.spec.slug, record);
  for (const record of all) byName.set(record.uid, record);
  return { all, byName };
}
