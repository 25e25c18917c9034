import { type Command, Option } from 'commander';
import { CADENCES } from '../core/model/frameworks.ts';
import { deleteAssessmentSchedule } from '../tools/compliance/delete-assessment-schedule.ts';
import { listAssessmentSchedules } from '../tools/compliance/list-assessment-schedules.ts';
import { setAssessmentSchedule } from '../tools/compliance/set-assessment-schedule.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

interface SetOptions extends TargetOptions {
  readonly cadence: string;
  readonly days?: string;
  readonly off?: true;
}

/** `mesh compliance schedule`: one of each framework. */
export function defineSchedules(command: Command): void {
  answering(withTarget(command.command('list').description('list the schedules')), async (options: TargetOptions) => ({
    value: await callOperation(targetOf(options), listAssessmentSchedules, {}),
    columns: listAssessmentSchedules.columns,
  }));
  answering(
    withTarget(command.command('set').description('assess at a cadence; the period that ended last at once'))
      .argument('<framework>', 'pci-dss, soc2 or hipaa')
      .addOption(
        new Option('--cadence <cadence>', 'at 03:00 of the first day of each').choices(CADENCES).makeOptionMandatory(),
      )
      .option('--days <days>', 'days before it that are assessed (those since the time before)')
      .option('--off', 'keep it, and assess nothing'),
    set,
  );
  answering(
    withTarget(command.command('delete').description('end a schedule; what it assessed is kept')).argument(
      '<framework>',
      'whose',
    ),
    async (framework: string, options: TargetOptions) =>
      answerOf(await callOperation(targetOf(options), deleteAssessmentSchedule, { framework }), 'Deleted.'),
  );
}

async function set(framework: string, { cadence, days, off, ...options }: SetOptions): Promise<Answer> {
  const asked = { framework, cadence, enabled: off !== true, ...(days !== undefined && { days: Number(days) }) };
  const value = await callOperation(targetOf(options), setAssessmentSchedule, asked);
  return answerOf(value, value.next_at ? `Assessed next at ${value.next_at}.` : 'It is off.');
}

/** @param text where nobody has to approve it first */
function answerOf(value: unknown, text: string): Answer {
  const { status, message } = value as { readonly status?: string; readonly message?: string };
  return { value, text: status === 'pending_approval' ? (message ?? status) : text };
}
