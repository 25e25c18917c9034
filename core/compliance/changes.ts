import type { Change, Commit } from '../base/ports.ts';
import { withRenames } from '../base/renames.ts';
import { isOfKind } from '../base/written-record.ts';
import { commitAt } from '../history/commits-between.ts';
import type { NetworkStep } from '../history/network-moments.ts';
import { sameAccess } from '../model/peer-access.ts';
import { isOfAgent } from '../model/presets.ts';
import type { WorkflowRecord } from '../model/workflow-records.ts';
import type { NetworkServices } from '../state/services.ts';

/** A revision that changed who may reach whom, with who asked for it and who approved it. */
export interface NetworkChangeRecord {
  readonly revision: number;
  readonly at: number;
  readonly actor: string;
  readonly reason: string;
  readonly requestId: string;
  /** As `updated MeshPolicy/web-to-db`. */
  readonly resources: readonly string[];
  /** True if the change writes policies. */
  readonly isOfPolicies: boolean;
  /** True if the change follows from an earlier decision: an expiry, the begin of a policy, or the policies that hold an agent to its preset. */
  readonly isAutomatic: boolean;
  readonly isDirect: boolean;
  /** Empty where nobody did. */
  readonly reviewedBy: string;
  readonly workflowId: string | undefined;
  readonly workflow: ApprovedBy | undefined;
}

/** The fields of a workflow that identify its approver. */
export interface ApprovedBy {
  readonly spec: Pick<WorkflowRecord['spec'], 'autoApprove' | 'requestedBy' | 'appliedBy'> &
    Partial<Pick<WorkflowRecord['spec'], 'shown' | 'call'>>;
  readonly status: Pick<WorkflowRecord['status'], 'selfApproved' | 'reviewedBy' | 'reviewedAt' | 'state'>;
}

type ReadServices = Pick<NetworkServices, 'store'>;

/** The changes of the network among some steps, by revision. */
export async function changesAmong(
  services: ReadServices,
  workspace: string,
  steps: readonly NetworkStep[],
  range: { readonly first: number; readonly last: number },
): Promise<NetworkChangeRecord[]> {
  const deciding = steps
    .map((step) => ({ ...step, changes: withRenames(step.changes).filter(decides) }))
    .filter(({ changes }) => changes.length > 0);
  if (deciding.length === 0) return [];
  const workflows = await workflowsIn(services, workspace, range);
  const found: NetworkChangeRecord[] = [];
  for (const step of deciding) {
    const commit = await commitAt(services, workspace, step.revision);
    const id = commit?.approval?.workflowId;
    // A workflow that was last written after the period or before its beginning is read from the store.
    const workflow =
      id === undefined ? undefined : (workflows.get(id) ?? (await services.store.get(workspace, workflowKey(id))));
    found.push(recordOf(step, commit, workflow));
  }
  return found;
}

const workflowKey = (name: string) => ({ kind: 'Workflow', name }) as const;

/** By id, each as it was written last. */
async function workflowsIn(
  { store }: ReadServices,
  workspace: string,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<ReadonlyMap<string, WorkflowRecord>> {
  const versions = await store.versions(workspace, 'Workflow', { after: first, upTo: last });
  return new Map(versions.flatMap(({ name, record }) => (record ? [[name, record] as const] : [])));
}

function recordOf(
  { revision, at, changes }: NetworkStep,
  commit: Commit | undefined,
  workflow: WorkflowRecord | undefined,
): NetworkChangeRecord {
  const workflowId = commit?.approval?.workflowId;
  const { actor = '', reason = '', requestId = '' } = commit ?? {};
  return {
    revision,
    at,
    actor,
    reason,
    requestId,
    resources: changes.map(({ type, record }) => `${type} ${record.kind}/${record.name}`),
    isOfPolicies: changes.some(({ record }) => record.kind === 'MeshPolicy'),
    isAutomatic: changes.every((change) => followsFromEarlier(change, actor)),
    isDirect: commit?.direct === true,
    reviewedBy: commit?.approval?.reviewedBy ?? '',
    workflowId,
    workflow,
  };
}

/** Policies, networks, and what of a peer decides access; a peer that comes or goes is no change of the rules. */
function decides(change: Change): boolean {
  const { kind } = change.record;
  if (kind === 'MeshPolicy' || kind === 'MeshNetwork') return true;
  if (!isOfKind(change, 'MeshPeer') || change.type !== 'updated' || !change.before) return false;
  return !sameAccess(change.before, change.record);
}

function followsFromEarlier(change: Change, actor: string): boolean {
  const { type, record } = change;
  return isOfAgent(record) || (actor.startsWith('system:') && (type === 'deleted' || begins(change)));
}

function begins(change: Change): boolean {
  return isOfKind(change, 'MeshPolicy') && change.before?.spec.startsAt !== undefined;
}
