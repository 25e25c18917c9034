import { formatInstant } from '../../base/time.ts';
import { catalogOf } from '../../compliance/catalog.ts';
import type { ControlResult } from '../../compliance/control-result.ts';
import { type About, type Assessment, CONTROLS_FOLDER, controlPath, OSCAL_PATH, REPORT_PATH } from './about.ts';
import { code, codeCell, page, table, text } from './markdown.ts';
import { failingFirst, failsStill, METHOD, NO_CERTIFICATE, STATUS_WORDS, withStatus } from './texts.ts';

/** The summary in the archive: what was found, what fails and who must do what, and what it rests on. */
export function executiveSummary(assessment: Assessment, about: About): string {
  const { title } = catalogOf(assessment.canonical_framework);
  const failing = failingFirst(assessment);
  return page([
    [`# ${title}: summary of the assessment ${code(assessment.evidence_id)}`],
    facts(assessment, about),
    [text(assessment.summary)],
    [`**${NO_CERTIFICATE}**`],
    ['## What fails'],
    failing.length === 0 ? ['No control fails.'] : failing.flatMap((control) => failingLines(control, assessment)),
    ...section('## What lacks evidence', withStatus(assessment, 'insufficient_evidence').map(lackingLine)),
    ['## Gaps'],
    assessment.gaps.length === 0 ? ['None are known.'] : assessment.gaps.map((gap) => `- ${text(gap)}`),
    ['## Controls'],
    controlTable(assessment),
    ['## How it was judged'],
    METHOD.map((sentence) => `- ${sentence}`),
    ['## What is in this archive'],
    contents(about),
    ['## How to verify it'],
    verification(about),
  ]);
}

function facts(assessment: Assessment, { installation, workspace, exportedAt, version }: About): string[] {
  const { title } = catalogOf(assessment.canonical_framework);
  const count = (status: ControlResult['status']) => withStatus(assessment, status).length;
  return table(
    ['', ''],
    [
      [
        'Framework',
        `${title} (asked for as ${codeCell(assessment.framework)}, identifier ${codeCell(assessment.canonical_framework)})`,
      ],
      ['Overall status', `**${assessment.status}**`],
      ['Score', `${assessment.score} of 100`],
      [
        'Controls',
        `${assessment.controls.length}: ${count('pass')} pass, ${count('fail')} fail, ${count('insufficient_evidence')} with insufficient evidence`,
      ],
      ['Period', `${codeCell(assessment.period_start)} to ${codeCell(assessment.period_end)}`],
      ['Workspace', `${codeCell(workspace.name)} (${codeCell(workspace.id)})`],
      ['Installation', codeCell(installation)],
      ['In scope', `peers: ${codeCell(assessment.scope)}`],
      ['States of the network looked at', String(assessment.states_evaluated)],
      ['Assessed', `${codeCell(assessment.generated_at)} by ${codeCell(assessment.generated_by)}`],
      ['Exported', `${codeCell(formatInstant(exportedAt))} by Mesh ${codeCell(version)}`],
      ['Evidence id', codeCell(assessment.evidence_id)],
    ],
  );
}

function failingLines(control: ControlResult, assessment: Assessment): string[] {
  const when = failsStill(control, assessment) ? 'fails still' : 'failed in the period';
  return [
    `- **${code(control.id)} ${text(control.title)}** (${when}): ${text(control.remediation)} Details: ${code(controlPath(control.id))}.`,
  ];
}

function lackingLine({ id, title, remediation }: ControlResult): string {
  return `- ${code(id)} ${text(title)}: ${text(remediation)}`;
}

function section(title: string, lines: readonly string[]): string[][] {
  return lines.length === 0 ? [] : [[title], [...lines]];
}

function controlTable({ controls }: Assessment): string[] {
  const rows = controls.map(({ id, title, status, strength }) => [
    codeCell(id),
    text(title),
    status === 'fail' ? `**${STATUS_WORDS[status]}**` : STATUS_WORDS[status],
    strength,
    codeCell(controlPath(id)),
  ]);
  return table(['Control', 'What it asks', 'Status', 'Strength of the check', 'Result'], rows);
}

function contents({ raw }: About): string[] {
  return [
    `- ${code(CONTROLS_FOLDER)}: the result of each control`,
    `- ${code(REPORT_PATH)}: the same on a page that prints`,
    `- ${code(OSCAL_PATH)}: the same for tools, as assessment results of NIST OSCAL`,
    ...raw.map(({ path, title }) => `- ${code(path)}: ${text(title)}`),
  ];
}

function verification({ keyFingerprint: fingerprint }: About): string[] {
  return [
    `1. ${code('sha256sum --strict -c MANIFEST.sha256')} in the unpacked archive: every file is as it was exported.`,
    `2. The signature of ${code('attestation.json')} covers the same digests: ${code('VERIFY.md')} has the commands.`,
    `3. The key in the archive proves nothing by itself. Compare its fingerprint${fingerprint === undefined ? '' : `, ${code(fingerprint)},`} with the one that the installation publishes.`,
  ];
}
