import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { Store } from '../base/ports.ts';
import { isUndecided, type WorkflowRecord } from '../model/asked.ts';
import { workflowsOf } from './workflows.ts';

type Reads = Pick<Store, 'list' | 'history' | 'audit'>;

/** By so much the clock of one partition may be behind that of another, after the database has another primary. */
const CLOCKS_APART_MS = 3_600_000;
const PAGE = 500;

/**
 * Whether an approved call was carried out although its workflow does not say so: a control plane ended between the two.
 * What a call writes first in the workspace of a workflow says so in the same commit; what it wrote elsewhere the audit log
 * tells, whose entries name the workflow that approved them.
 */
export async function wasCarriedOut(store: Reads, workflow: WorkflowRecord): Promise<boolean> {
  const { call } = workflow.spec;
  if (!call) return false;
  const names = new Set([workflow.name]);
  for (const workspace of call.approvedIn) {
    if (workspace === workflow.workspace) continue;
    for (const other of await workflowsOf({ store }, workspace)) {
      if (other.spec.call?.digest !== call.digest) continue;
      if (isUndecided(other)) names.add(other.name);
      else if (other.status.state === 'executed' && (await endedAt(store, other)) >= workflow.createdAt) return true;
    }
  }
  // An agent writes in its own workspace alone.
  const partitions = call.caller.kind === 'agent' ? [call.workspace] : [SYSTEM_WORKSPACE, call.workspace];
  const elsewhere = partitions.filter((one) => !call.approvedIn.includes(one));
  const query = { actor: call.caller.subject, from: workflow.createdAt - CLOCKS_APART_MS };
  for (const partition of new Set(elsewhere)) {
    if (await hasCommitOf(store, partition, names, query)) return true;
  }
  return false;
}

/** When an executed workflow became so: nothing is written to it after. */
async function endedAt(store: Reads, { workspace, name }: WorkflowRecord): Promise<number> {
  return (await store.history(workspace, { kind: 'Workflow', name })).at(-1)?.at ?? 0;
}

async function hasCommitOf(
  store: Reads,
  partition: string,
  workflows: ReadonlySet<string>,
  query: { readonly actor: string; readonly from: number },
): Promise<boolean> {
  for (let before: number | undefined; ; ) {
    const page = await store.audit(partition, {
      ...query,
      type: 'commit',
      ...(before !== undefined && { before }),
      limit: PAGE,
    });
    if (page.some(({ commit }) => commit?.approval && workflows.has(commit.approval.workflowId))) return true;
    if (page.length < PAGE) return false;
    before = page.at(-1)?.seq;
  }
}
