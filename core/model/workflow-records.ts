import { MeshError } from '../base/errors.ts';
import type { Op, Store } from '../base/ports.ts';
import { draftOf, type StoredRecord } from '../base/record.ts';

/** `pending -> approved -> executing -> executed | failed`, `pending -> rejected | expired`. */
export const WORKFLOW_STATES = [
  'pending',
  'approved',
  'executing',
  'executed',
  'failed',
  'rejected',
  'expired',
] as const;
export type WorkflowState = (typeof WORKFLOW_STATES)[number];

/** The requester and the expiry of a plan. */
export interface PlanOwner {
  readonly requesterId: string;
  /** The API token that they asked with, which it ends with. */
  readonly requesterToken?: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

export interface PlanStatus {
  /** The workflow that used it up. */
  readonly workflowId?: string;
}

/** The requester of a workflow, and the caller that applied the plan, where that is another one. */
export interface WorkflowOwner {
  readonly summary: string;
  readonly requesterId: string;
  /** The API tokens that they asked and applied with, which it ends with. */
  readonly requesterToken?: string;
  readonly applierId: string;
  readonly applierToken?: string;
}

export interface WorkflowStatus {
  readonly state: WorkflowState;
  /** The authenticated person that approved or rejected. */
  readonly reviewedBy?: string;
  readonly reviewedAt?: string;
  readonly note?: string;
  readonly selfApproved?: boolean;
  readonly error?: string;
}

export type PlanRecord = StoredRecord<'Plan'>;
export type WorkflowRecord = StoredRecord<'Workflow'>;

/** @throws MeshError `not_found` */
export async function findWorkflow(
  { store }: { readonly store: Pick<Store, 'get'> },
  workspace: string,
  id: string,
): Promise<WorkflowRecord> {
  const record = await store.get(workspace, { kind: 'Workflow', name: id });
  if (record) return record;
  throw new MeshError('not_found', `There is no workflow ${JSON.stringify(id.slice(0, 80))} in this workspace.`);
}

/** Returns true if a workflow has not been carried out yet and may still be. */
export function isUndecided({ status }: WorkflowRecord): boolean {
  return status.state === 'pending' || status.state === 'approved';
}

/** Ends a workflow that waits, because there is nobody any more for whom it would be carried out. */
export function cancelOp(workflow: WorkflowRecord, reason: string): Op {
  const status: WorkflowStatus = { ...workflow.status, state: 'expired', error: reason };
  return { op: 'update', revision: workflow.revision, record: { ...draftOf(workflow), status } };
}
