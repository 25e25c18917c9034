import { catalogOf } from '../../compliance/catalog.ts';
import type { ControlResult, FailingInterval, FlipCause } from '../../compliance/control-result.ts';
import { counted } from '../../effect/markdown.ts';
import type { About, Assessment, RawFile } from './about.ts';
import { code, codeCell, jsonBlock, page, table, text } from './markdown.ts';
import { NO_CERTIFICATE, STATUS_WORDS, shareText } from './texts.ts';

/** The file of one control in the archive: its result, what it rests on, and what to do. */
export function controlMarkdown(control: ControlResult, assessment: Assessment, about: About): string {
  return page([
    [`# ${code(control.id)} ${text(control.title)}`],
    facts(control, assessment, about),
    ['## Evidence'],
    [text(control.evidence)],
    ...failingSection(control),
    ...(assessment.gaps.length === 0
      ? []
      : [['## Gaps of the period'], assessment.gaps.map((gap) => `- ${text(gap)}`)]),
    ...remediationSection(control),
    ['## Where to look it up'],
    lookUps(about.raw),
    ['## What this is not'],
    [NO_CERTIFICATE],
  ]);
}

function facts(control: ControlResult, assessment: Assessment, { workspace }: About): string[] {
  const { title } = catalogOf(assessment.canonical_framework);
  return table(
    ['', ''],
    [
      ['Status', `**${STATUS_WORDS[control.status]}**`],
      ['It held', shareText(control)],
      ['Framework', title],
      ['References', control.references.map((reference) => text(reference)).join(', ')],
      ['Asked', `peers in scope: ${codeCell(assessment.scope)}; check ${codeCell(control.check)}`],
      ['Strength of the check', strengthText(control.strength)],
      ['Caveat', text(control.caveat)],
      ['Period', `${codeCell(assessment.period_start)} to ${codeCell(assessment.period_end)}`],
      ['Workspace', `${codeCell(workspace.name)} (${codeCell(workspace.id)})`],
      ['Assessed', `${codeCell(assessment.generated_at)} by ${codeCell(assessment.generated_by)}`],
      ['Evidence id', codeCell(assessment.evidence_id)],
    ],
  );
}

function strengthText(strength: ControlResult['strength']): string {
  return strength === 'strong' ? 'strong' : 'partial: the check shows a part of what the control asks for';
}

function failingSection({ failing, omitted_failing: omitted }: ControlResult): string[][] {
  if (failing.length === 0) return [];
  const rows = failing.map((interval) => [
    codeCell(interval.from),
    interval.from === interval.to ? 'at once' : codeCell(interval.to),
    text(interval.facts),
    causeText(interval.begun_by, 'failed already when it was first known'),
    endText(interval),
  ]);
  const heads = ['From', 'To', 'What failed', 'Begun by', 'Ended by'];
  return [
    ['## When it failed'],
    table(heads, rows),
    ...(omitted === 0 ? [] : [[`${omitted} more ${omitted === 1 ? 'interval is' : 'intervals are'} not told here.`]]),
  ];
}

function endText({ from, to, ended_by: ended }: FailingInterval): string {
  if (from === to && ended === null) return '—';
  return causeText(ended, 'not ended in the period');
}

/** Returns the actor, the approval and the ids of a cause. */
function causeText(cause: FlipCause | null, none: string): string {
  if (cause === null) return none;
  const facts = [
    cause.revision === null ? undefined : `revision ${codeCell(String(cause.revision))}`,
    cause.actor === null ? undefined : `by ${codeCell(cause.actor)}`,
    cause.workflow_id === null ? undefined : `workflow ${codeCell(cause.workflow_id)}`,
    cause.revision === null
      ? undefined
      : cause.reviewed_by === null
        ? 'reviewed by nobody'
        : `reviewed by ${codeCell(cause.reviewed_by)}`,
    cause.direct ? 'written directly' : undefined,
    cause.reason === null || cause.reason === '' ? undefined : `reason: ${text(cause.reason)}`,
    cause.resources.length === 0 ? undefined : cause.resources.map(codeCell).join(', '),
    `at ${codeCell(cause.at)}`,
  ];
  return facts.filter((fact) => fact !== undefined).join('; ');
}

function remediationSection({ remediation, changes, effect }: ControlResult): string[][] {
  if (remediation === '') return [];
  return [
    ['## What to do'],
    [text(remediation)],
    ...(changes.length === 0
      ? []
      : [
          ['These changes mend it, as `plan_network_change` takes them. Nothing of it was planned or written.'],
          jsonBlock(changes),
        ]),
    ...(effect === null
      ? []
      : [
          [
            `Effect on the network as it was when it was assessed: ${text(effect.summary)} It opens ${counted(effect.opened_pairs, 'pair')} and closes ${counted(effect.closed_pairs, 'pair')}. The control ${effect.holds_after ? 'holds' : 'does not hold yet'} after it.`,
          ],
        ]),
  ];
}

const LOOKED_UP: Readonly<Record<RawFile['holds'][number], string>> = {
  policies: 'policies by their names',
  revisions: 'changes by their revisions',
  snapshots: 'snapshots by their instants',
  workflows: 'workflows and who reviewed them by the workflow ids',
};

function lookUps(raw: readonly RawFile[]): string[] {
  const found = raw.filter(({ holds }) => holds.length > 0);
  if (found.length === 0) return ['This archive has no raw data.'];
  return found.map(({ path, holds }) => `- ${code(`../${path}`)}: ${holds.map((what) => LOOKED_UP[what]).join(', ')}`);
}
