import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { serialized } from '../base/serialize.ts';
import { formatInstant } from '../base/time.ts';
import { updateWorkspace } from '../identity/change-workspace.ts';
import {
  type AssessmentSchedule,
  type ComplianceSettings,
  type WorkspaceRecord,
  workspaceById,
} from '../model/workspaces.ts';
import type { NetworkServices, StoreCall } from '../state/services.ts';
import { nextDueAt } from './due.ts';
import { FRAMEWORKS, type Framework, frameworkOf } from './frameworks.ts';

/** A schedule with when it assesses next; null where it is off. */
export interface ScheduleView {
  readonly framework: Framework;
  readonly cadence: AssessmentSchedule['cadence'];
  readonly days: number | null;
  readonly enabled: boolean;
  readonly next_at: string | null;
}

export async function listSchedules(
  services: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
): Promise<ScheduleView[]> {
  return viewsOf(await workspaceById(services, workspace), services.clock.now());
}

/** Sets the one schedule of a framework. @throws MeshError as `frameworkOf` and `updateWorkspace` do */
export async function setSchedule(
  name: string,
  schedule: AssessmentSchedule,
  context: StoreCall,
  now: number,
): Promise<ScheduleView> {
  const framework = frameworkOf(name);
  const record = await updateSchedules((schedules) => ({ ...schedules, [framework]: schedule }), context);
  const view = viewsOf(record, now).find((one) => one.framework === framework);
  if (!view) throw new TypeError('The schedule that was set is not there.');
  return view;
}

/** @throws MeshError `not_found` where the framework has none */
export async function deleteSchedule(name: string, context: StoreCall): Promise<void> {
  const framework = frameworkOf(name);
  await updateSchedules(({ [framework]: old, ...rest }) => {
    if (!old) throw new MeshError('not_found', `There is no schedule of ${framework} in this workspace.`);
    return Object.keys(rest).length > 0 ? rest : null;
  }, context);
}

type Schedules = NonNullable<ComplianceSettings['schedules']>;

/** Writes the schedules in a serialized read-modify-write, so that simultaneous changes of several frameworks are all kept. */
function updateSchedules(change: (now: Schedules) => Schedules | null, context: StoreCall): Promise<WorkspaceRecord> {
  const patch = ({ spec }: WorkspaceRecord) => ({
    settings: { compliance: { schedules: change(spec.settings.compliance?.schedules ?? {}) } },
  });
  return serialized(context.services.store, SYSTEM_WORKSPACE, () => updateWorkspace(patch, context));
}

function viewsOf({ spec }: WorkspaceRecord, now: number): ScheduleView[] {
  const { compliance, timeZone } = spec.settings;
  return FRAMEWORKS.flatMap((framework): ScheduleView[] => {
    const schedule: AssessmentSchedule | undefined = compliance?.schedules?.[framework];
    if (!schedule) return [];
    const { cadence, days = null, enabled } = schedule;
    const next = enabled ? formatInstant(nextDueAt(now, schedule, timeZone)) : null;
    return [{ framework, cadence, days, enabled, next_at: next }];
  });
}
