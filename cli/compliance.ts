import { styleText } from 'node:util';
import type { Command } from 'commander';
import type { z } from 'zod';
import { assessCompliance } from '../tools/compliance/assess-compliance.ts';
import { compareAssessments } from '../tools/compliance/compare-assessments.ts';
import { getAssessment } from '../tools/compliance/get-assessment.ts';
import { getComplianceTrend } from '../tools/compliance/get-compliance-trend.ts';
import { listAssessments } from '../tools/compliance/list-assessments.ts';
import { listComplianceDrift } from '../tools/compliance/list-compliance-drift.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { defineReviews } from './compliance-reviews.ts';
import { defineSchedules } from './compliance-schedules.ts';
import { EXIT } from './exit.ts';
import { MOMENT_FORMS, momentOf } from './moments.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

type Assessment = z.output<typeof assessCompliance.output>;
type Control = Assessment['controls'][number];

const COLOURS = { pass: 'green', fail: 'red', insufficient_evidence: 'yellow' } as const;
const WORDS = { pass: 'pass', fail: 'FAIL', insufficient_evidence: 'none' } as const;
const WIDTH = 4;
const FRAMEWORK_NAMES = 'pci-dss, soc2 or hipaa';
/** Characters of a bar that stands for a score of 100. */
const BAR = 20;
const FULL_SCORE = 100;
/** A quarter, as auditors ask. */
const DEFAULT_PERIOD = '90d';

/** `mesh compliance`: assesses a period, shows what was found before, and reviews. */
export function defineCompliance(command: Command): void {
  answering(
    withTarget(command.command('assess').description('judge the controls of a framework over a period'))
      .argument('<framework>', FRAMEWORK_NAMES)
      .option('--from <moment>', `begin of the period: ${MOMENT_FORMS}`, DEFAULT_PERIOD)
      .option('--to <moment>', 'end of the period, likewise (now)'),
    assess,
  );
  answering(
    withTarget(command.command('list').description('list the assessments, newest first')).option(
      '--framework <framework>',
      'only those of it',
    ),
    async ({ framework, ...options }: TargetOptions & { readonly framework?: string }) => {
      const value = await callOperation(targetOf(options), listAssessments, framework ? { framework } : {});
      return { value, columns: listAssessments.columns };
    },
  );
  answering(
    withTarget(command.command('show').description('show an assessment')).argument('<id>', 'its evidence_id'),
    async (id: string, options: TargetOptions) =>
      answerOf(await callOperation(targetOf(options), getAssessment, { id })),
  );
  answering(
    withTarget(command.command('compare').description('tell which controls another assessment judges otherwise'))
      .argument('<from>', 'evidence_id of the earlier one')
      .argument('<to>', 'evidence_id of the later one'),
    compare,
  );
  answering(
    withTarget(command.command('trend').description('show how the assessments of a framework went')).argument(
      '<framework>',
      FRAMEWORK_NAMES,
    ),
    trend,
  );
  answering(
    withTarget(command.command('drift').description('list what assessments found otherwise than the ones before'))
      .option('--framework <framework>', `only of ${FRAMEWORK_NAMES}`)
      .option('--control <id>', 'only of this control, such as PCI-DSS-1.2')
      .option('--since <moment>', `only what was found since: ${MOMENT_FORMS}`),
    drift,
  );
  defineSchedules(command.command('schedule').description('have the workspace assessed at a cadence'));
  defineReviews(command);
}

async function assess(
  framework: string,
  { from, to, ...options }: TargetOptions & { readonly from: string; readonly to?: string },
): Promise<Answer> {
  const asked = {
    framework,
    period_start: momentOf(from, '--from'),
    ...(to !== undefined && { period_end: momentOf(to, '--to') }),
  };
  const assessment = await callOperation(targetOf(options), assessCompliance, asked);
  // For scripts and CI; to show one later is no failure.
  return { ...answerOf(assessment), ...(assessment.status !== 'pass' && { exitCode: EXIT.negative }) };
}

/** A line for each control; below it, where it does not pass, why and what to do. */
function answerOf(assessment: Assessment): Answer {
  const { controls, summary, score, status, evidence_id: id } = assessment;
  const lines = controls.flatMap((control) => [headOf(control), ...(control.status === 'pass' ? [] : below(control))]);
  const hint = 'The changes as they can be planned are in --json; mesh admin plan-network-change --changes takes them.';
  const hints = controls.some(({ changes }) => changes.length > 0) ? [hint] : [];
  const end = `Score ${score}, ${status}. Kept as ${id}.`;
  return { value: assessment, text: [...lines, '', summary, end], hints };
}

function headOf({ id, title, status }: Control): string {
  return `${styleText(COLOURS[status], WORDS[status].padEnd(WIDTH))}  ${id}  ${title}`;
}

function below({ evidence, remediation, changes, effect }: Control): string[] {
  const texts = [evidence, `To do: ${remediation}`];
  if (effect) {
    const written = changes.map(({ action, resource, name }) => `${action} ${resource} ${name}`).join(', ');
    texts.push(`Changes: ${written}. ${effect.summary} ${effect.holds_after ? 'It holds then.' : 'More is needed.'}`);
  }
  return texts.map((text) => `      ${text}`);
}

async function compare(from: string, to: string, options: TargetOptions): Promise<Answer> {
  const value = await callOperation(targetOf(options), compareAssessments, { earlier: from, later: to });
  const lines = value.controls.map((flip) => `${flip.id}: ${flip.from ?? 'unknown'} -> ${flip.to ?? 'unknown'}`);
  const change = value.score_change > 0 ? `+${value.score_change}` : `${value.score_change}`;
  return { value, text: [...lines, `Score ${change}; ${value.unchanged_count} controls as before.`] };
}

/** A line for each assessment, oldest first, with a bar as long as its score. */
async function trend(framework: string, options: TargetOptions): Promise<Answer> {
  const value = await callOperation(targetOf(options), getComplianceTrend, { framework });
  const days = Map.groupBy(value.points, ({ period_end: end }) => end.slice(0, 10));
  const lines = value.points.map(({ period_end: end, score, counts, evidence_id: id }) => {
    const bar = '#'.repeat(Math.round((BAR * score) / FULL_SCORE)).padEnd(BAR, '.');
    const { pass, fail, insufficient_evidence: none } = counts;
    // The time tells apart assessments that end on one day.
    const when = [...days.values()].some((same) => same.length > 1) ? end : end.slice(0, 10);
    return `${when}  ${bar} ${`${score}`.padStart(3)}  ${pass} pass, ${fail} fail, ${none} without evidence  ${id}`;
  });
  const text = lines.length > 0 ? lines : `There is no assessment yet: mesh compliance assess ${framework}`;
  return { value, text };
}

async function drift({
  framework,
  control,
  since,
  ...options
}: TargetOptions & {
  readonly framework?: string;
  readonly control?: string;
  readonly since?: string;
}): Promise<Answer> {
  const asked = {
    ...(framework !== undefined && { framework }),
    ...(control !== undefined && { control }),
    ...(since !== undefined && { since: momentOf(since, '--since') }),
  };
  let value: z.output<typeof listComplianceDrift.output> = { items: [] };
  // A page of what was looked through may have nothing that is asked for.
  for (let cursor: string | undefined; ; cursor = value.next_cursor) {
    value = await callOperation(targetOf(options), listComplianceDrift, { ...asked, ...(cursor && { cursor }) });
    if (value.items.length > 0 || value.next_cursor === undefined) break;
  }
  const lines = value.items.flatMap(({ at, evidence_id: id, controls }) => [
    `${at}  ${id}`,
    ...controls.map(({ control, from, to }) => `  ${control}: ${from} -> ${to}`),
  ]);
  return { value, text: lines.length > 0 ? lines : 'No control drifted.' };
}
