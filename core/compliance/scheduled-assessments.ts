import { MeshError } from '../base/errors.ts';
import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type CommitContext, StoreError } from '../base/ports.ts';
import { formatInstant } from '../base/time.ts';
import type { Computation } from '../compute/computation.ts';
import type { AssessmentSchedule } from '../model/workspaces.ts';
import type { NetworkServices, ThreadServices } from '../state/services.ts';
import { type AssessmentPeriod, type AssessmentResult, assessPeriod } from './assess.ts';
import { dueKey } from './assessment-record.ts';
import { keepAssessment } from './assessments.ts';
import { type DueAssessment, lastDue, nextDueAt } from './due.ts';
import { FRAMEWORKS, type Framework } from './frameworks.ts';

const ACTOR = 'system:compliance';

/** Runs an assessment in a computing thread. */
export const assessFor: Computation<ThreadServices, { readonly asked: AssessmentPeriod }, AssessmentResult> = {
  name: 'assess_for',
  run: (services, workspace, { asked }) => assessPeriod(services, workspace, asked),
};

/**
 * Makes the assessments of a workspace that are due and not there, of each framework the newest alone: also when nobody was
 * up at its hour. There is one for each due instant, whoever else tries.
 *
 * @param refused due instants at which a framework could not be assessed, by workspace and framework: not tried again
 * @returns when the next one is due, ms; undefined for none
 */
export async function assessScheduled(
  services: NetworkServices,
  workspace: string,
  refused: Map<string, number>,
): Promise<number | undefined> {
  if (services.edition !== 'pro') return undefined;
  const record = await services.store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace);
  if (!record) return undefined;
  const { timeZone, compliance } = record.spec.settings;
  const next: number[] = [];
  for (const framework of FRAMEWORKS) {
    const schedule: AssessmentSchedule | undefined = compliance?.schedules?.[framework];
    if (!schedule?.enabled) continue;
    const now = services.clock.now();
    const due = lastDue(now, schedule, timeZone);
    const key = `${workspace} ${framework}`;
    const isDue = due.at > record.createdAt && refused.get(key) !== due.at;
    if (isDue && !(await services.store.lookup(dueKey(framework, due.at), workspace))) {
      if (!(await assessDue(services, workspace, framework, due))) refused.set(key, due.at);
    }
    next.push(nextDueAt(now, schedule, timeZone));
  }
  return next.length === 0 ? undefined : Math.min(...next);
}

/** @returns false where it cannot be made, which the audit log tells */
async function assessDue(
  services: NetworkServices,
  workspace: string,
  framework: Framework,
  { at, from, to }: DueAssessment,
): Promise<boolean> {
  const requestId = newId('r');
  const asked = { framework, from: formatInstant(from), to: formatInstant(to) };
  const context: CommitContext = { actor: ACTOR, reason: `assessed ${framework} as scheduled`, requestId };
  try {
    const asker = { workspace, principal: ACTOR, requestId, isQuestion: true };
    const assessed = await services.computed(assessFor, { asked }, asker);
    const about = { framework, asked: framework, from, to, generatedAt: services.clock.now(), generatedBy: ACTOR };
    await keepAssessment(services, workspace, { ...assessed, ...about, dueAt: at }, context);
    return true;
  } catch (error) {
    // Another process was first.
    if (error instanceof StoreError && error.code === 'unique') return true;
    if (!(error instanceof MeshError) || error.code === 'unavailable') throw error;
    const detail = { framework, due_at: formatInstant(at), code: error.code, message: error.message };
    const event = { type: 'compliance.schedule_failed', actor: ACTOR, result: 'refused', detail, requestId } as const;
    await services.store.record(workspace, [event]);
    return false;
  }
}
