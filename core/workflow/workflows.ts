import type { Store } from '../base/ports.ts';
import type { WorkflowRecord, WorkflowState } from '../model/asked.ts';
import type { Services } from './services.ts';

/** All that are kept, in the order of their ids. */
export async function workflowsOf(
  { store }: { readonly store: Pick<Store, 'list'> },
  workspace: string,
): Promise<readonly WorkflowRecord[]> {
  return (await store.list(workspace, 'Workflow')).items;
}

export interface WorkflowQuery {
  readonly status: WorkflowState | undefined;
  /** As `agent:scout`. */
  readonly requestedBy?: string | undefined;
  /** Id of the last one already seen. */
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listWorkflows(
  services: Pick<Services, 'store'>,
  workspace: string,
  { status, requestedBy, cursor, limit }: WorkflowQuery,
): Promise<{ readonly items: readonly WorkflowRecord[]; readonly next?: string }> {
  const all = (await workflowsOf(services, workspace))
    .filter(
      (record) =>
        (status === undefined || record.status.state === status) &&
        (requestedBy === undefined || record.spec.requestedBy === requestedBy),
    )
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? -1 : 1));
  const start = cursor === undefined ? 0 : all.findIndex(({ name }) => name === cursor) + 1;
  const shown = all.slice(start, start + limit);
  const last = start + limit < all.length ? shown.at(-1)?.name : undefined;
  return { items: shown, ...(last !== undefined && { next: last }) };
}
