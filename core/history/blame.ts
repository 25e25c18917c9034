import { type Commit, StoreError } from '../base/ports.ts';
import { formatInstant } from '../base/time.ts';
import type { NetworkServices } from '../state/services.ts';

/** A commit that changed the network: what it changed, who wrote it, who approved it. */
export type NetworkCommit = {
  readonly revision: number;
  readonly at: string;
  readonly actor: string;
  readonly reason: string;
  readonly workflow_id: string | null;
  readonly reviewed_by: string | null;
  /** As `created MeshPolicy/web-to-db`. */
  readonly resources: string[];
};

/** The same with the first snapshot that shows it. */
export type ChangeView = NetworkCommit & { readonly snapshot_id: string | null };

const DECIDES: ReadonlySet<string> = new Set(['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity']);
const PAGE = 500;

/** The commits of a span of revisions that changed the network, oldest first, at most `limit`; those that are kept. */
export async function networkCommits(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<Commit[]> {
  const found: Commit[] = [];
  for (let position = after; found.length < limit && position < upTo; ) {
    const page = await commitsAfter(store, workspace, position);
    if (page === undefined) {
      const kept = await store.keptFrom(workspace);
      if (!kept || kept.revision <= position) break;
      position = kept.revision;
      continue;
    }
    found.push(...page.filter(({ revision, changes }) => revision <= upTo && changes.some(decides)));
    position = page.at(-1)?.revision ?? upTo;
    if (page.length < PAGE) break;
  }
  return found.slice(0, limit);
}

/** Undefined where they are no longer kept. */
async function commitsAfter(store: NetworkServices['store'], workspace: string, revision: number) {
  try {
    return await store.commits(workspace, revision, PAGE);
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') return undefined;
    throw error;
  }
}

export function commitView({ revision, at, actor, reason, approval, changes }: Commit): NetworkCommit {
  return {
    revision,
    at: formatInstant(at),
    actor,
    reason,
    workflow_id: approval?.workflowId ?? null,
    reviewed_by: approval?.reviewedBy ?? null,
    resources: changes.filter(decides).map(({ type, record }) => `${type} ${record.kind}/${record.name}`),
  };
}

function decides({ record }: Commit['changes'][number]): boolean {
  return DECIDES.has(record.kind);
}
