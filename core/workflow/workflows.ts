import { commitContext } from '../base/commit-context.ts';
import { newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { ReadSet, Store } from '../base/ports.ts';
import { hasEnded } from '../base/time.ts';
import { isUndecided, type WorkflowRecord, type WorkflowState } from '../model/workflow-records.ts';
import type { Services } from './services.ts';
import { type WorkflowSpec, workflowDraft } from './workflow-record.ts';

/** Returns all workflows of a workspace in the order of their ids. */
export async function workflowsOf(
  { store }: { readonly store: Pick<Store, 'list'> },
  workspace: string,
): Promise<readonly WorkflowRecord[]> {
  return (await store.list(workspace, 'Workflow')).items;
}

/** Returns the workflows in which a call waits or is approved, by workspace. */
export async function callWorkflows(
  services: Pick<Services, 'store' | 'clock'>,
  workspaces: readonly string[],
  digest: string,
): Promise<Map<string, WorkflowRecord>> {
  const open = new Map<string, WorkflowRecord>();
  for (const workspace of workspaces) {
    const one = openCall(await workflowsOf(services, workspace), digest, services.clock.now());
    if (one) open.set(workspace, one);
  }
  return open;
}

/** Returns the workflow among `all` in which the call with this digest waits or is approved. */
export function openCall(all: readonly WorkflowRecord[], digest: string, now: number): WorkflowRecord | undefined {
  return all.find((workflow) => workflow.spec.call?.digest === digest && isOpen(workflow, now));
}

/** Tells whether a workflow may still be executed. */
export function isOpen(workflow: WorkflowRecord, now: number): boolean {
  return isUndecided(workflow) && !hasEnded(workflow.spec, now);
}

/** Tells whether the people of each of the workspaces have approved. */
export function isApprovedIn(open: ReadonlyMap<string, WorkflowRecord>, workspaces: readonly string[]): boolean {
  return workspaces.every((workspace) => open.get(workspace)?.status.state === 'approved');
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

/** Opens a workflow that waits for the approvers of a workspace. @returns its id */
export async function openWorkflow(
  context: CallContext<Pick<Services, 'store'>>,
  workspace: string,
  spec: WorkflowSpec,
  reason: string,
  readSet?: ReadSet,
): Promise<string> {
  const id = newId('wf');
  const record = workflowDraft(id, spec, { state: 'pending' });
  const commit = commitContext(context, `asked for: ${reason}`, readSet && { readSet });
  await context.services.store.commit(workspace, [{ op: 'create', record }], commit);
  return id;
}
