import { isFenced } from '../base/leader.ts';
import { type Op, StoreError } from '../base/ports.ts';
import { hasEnded } from '../base/time.ts';
import { begunText } from '../intent/plan/approval-deadline.ts';
import { executeWorkflow } from './execute.ts';
import { wasExecuted } from './execute-call.ts';
import type { Services } from './services.ts';
import { statusOp } from './workflow-record.ts';
import { workflowsOf } from './workflows.ts';

/** Plans stay this long after their end, so that a late or repeated apply hears why it is refused. */
const PLAN_KEPT_MS = 24 * 3_600_000;

/** Resumes workflows whose execution was cut short. @returns how many */
export async function resumeWorkflows(services: Services, workspace: string): Promise<number> {
  const open = (await workflowsOf(services, workspace)).filter(
    ({ status }) => status.state === 'approved' || status.state === 'executing',
  );
  for (const { name } of open) {
    try {
      await executeWorkflow(services, workspace, name, `resume-${name}`);
    } catch (error) {
      if (isFenced(error)) throw error;
      services.log.warn({ workspace, workflow: name, err: error }, 'an approved workflow could not be carried out yet');
    }
  }
  return open.length;
}

/** Ends workflows that waited too long, and forgets old plans. @returns when the next one ends, ms; undefined when none waits */
export async function expireWorkflows(services: Services, workspace: string): Promise<number | undefined> {
  const { store, clock } = services;
  const now = clock.now();
  const waiting = (await workflowsOf(services, workspace)).filter(
    // A call may wait for the people of another workspace, or for who asked to repeat it.
    ({ status, spec }) => status.state === 'pending' || (status.state === 'approved' && spec.call !== undefined),
  );
  for (const workflow of waiting) {
    const { name, spec, status } = workflow;
    if (!hasEnded(spec, now)) continue;
    const isDone = status.state === 'approved' && (await wasExecuted(store, workflow));
    const state = isDone ? 'executed' : 'expired';
    const error = isDone ? undefined : begunText(spec, now);
    const op = statusOp(workflow, { state, ...(error !== undefined && { error }) });
    await commitQuietly(services, workspace, [op], `workflow ${name} ${state}`);
  }
  const plans = (await store.list(workspace, 'Plan')).items;
  const old = plans.filter(({ spec }) => spec.expiresAt + PLAN_KEPT_MS <= now);
  const deletions = old.map(({ kind, name, revision }): Op => ({ op: 'delete', key: { kind, name }, revision }));
  if (deletions.length > 0) await commitQuietly(services, workspace, deletions, 'old plans forgotten');
  const ends = [
    ...waiting.map(({ spec }) => spec.expiresAt),
    ...plans.map(({ spec }) => spec.expiresAt + PLAN_KEPT_MS),
  ].filter((at) => at > now);
  return ends.length > 0 ? ends.reduce((a, b) => Math.min(a, b)) : undefined;
}

/** Someone else may have decided in the same moment; then there is nothing to do. */
async function commitQuietly(
  { store }: Services,
  workspace: string,
  ops: readonly Op[],
  reason: string,
): Promise<void> {
  try {
    await store.commit(workspace, ops, { actor: 'system:workflows', reason, requestId: 'expire-workflows' });
  } catch (error) {
    if (!(error instanceof StoreError) || error.isOutage) throw error;
  }
}
