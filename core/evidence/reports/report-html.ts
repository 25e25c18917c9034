import { createHash } from 'node:crypto';
import { formatInstant } from '../../base/time.ts';
import { catalogOf } from '../../compliance/catalog.ts';
import type { ControlResult, ControlStatus } from '../../compliance/control-result.ts';
import { type About, type Assessment, CONTROLS_FOLDER } from './about.ts';
import { failingTimes } from './failing-times.ts';
import { html, Markup } from './html.ts';
import { REPORT_STYLE } from './report-style.ts';
import { failingFirst, failsStill, METHOD, NO_CERTIFICATE, STATUS_WORDS, shareText, withStatus } from './texts.ts';

/** Characters of one remediation here; the result of the control has all of it. */
const MAX_TODO = 400;
const STYLE_HASH = createHash('sha256').update(REPORT_STYLE).digest('base64');
/** Nothing runs and nothing is fetched, whatever is in the page. */
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;

/** `report.html`: the assessment on one page that prints, without script or anything from elsewhere. */
export function reportHtml(assessment: Assessment, about: About): string {
  const { title } = catalogOf(assessment.canonical_framework);
  const heading = `${title}: ${about.workspace.name}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading}</title>
<style>${new Markup(REPORT_STYLE)}</style>
</head>
<body>
<h1>${heading}</h1>
<p class="quiet">${assessment.period_start} to ${assessment.period_end}</p>
${totals(assessment)}<p>${assessment.summary}</p>
<p class="notice">${NO_CERTIFICATE}</p>
${failingTimes(assessment)}${todo(assessment)}${gaps(assessment)}<h2>Controls</h2>
${controlTable(assessment)}<h2>How it was judged</h2>
<ul>
${METHOD.map((sentence) => html`<li>${sentence}</li>\n`)}</ul>
<h2>About this report</h2>
${facts(assessment, about)}</body>
</html>
`.source;
}

function totals(assessment: Assessment): Markup {
  const of = (status: ControlStatus) => withStatus(assessment, status).length;
  const rows: [string, string | number][] = [
    ['Overall', assessment.status],
    ['Score', `${assessment.score} %`],
    ['Pass', of('pass')],
    ['Fail', of('fail')],
    ['Insufficient evidence', of('insufficient_evidence')],
  ];
  return html`<dl class="totals">
${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>
`;
}

function todo(assessment: Assessment): Markup {
  const failing = failingFirst(assessment);
  if (failing.length === 0)
    return html`<h2>What to do</h2>
<p>No control fails.</p>
`;
  const items = failing.map((control) => {
    const when = failsStill(control, assessment) ? 'fails still' : 'failed in the period';
    return html`<li><strong>${control.id}</strong> ${control.title} (${when}): ${shortened(control.remediation)}</li>
`;
  });
  return html`<h2>What to do</h2>
<ul class="todo">
${items}</ul>
`;
}

function shortened(words: string): string {
  return words.length <= MAX_TODO ? words : `${words.slice(0, MAX_TODO)}…`;
}

function gaps({ gaps: all }: Assessment): Markup {
  if (all.length === 0) return html``;
  return html`<h2>What is not known</h2>
<ul>
${all.map((gap) => html`<li>${gap}</li>\n`)}</ul>
`;
}

const CLASSES: Readonly<Record<ControlStatus, string>> = { pass: 'pass', fail: 'fail', insufficient_evidence: 'open' };

function controlTable({ controls }: Assessment): Markup {
  const rows = controls.map((control: ControlResult) => {
    const { id, title, status, strength } = control;
    return html`<tr><td>${id}</td><td>${title}</td><td class="${CLASSES[status]}">${STATUS_WORDS[status]}</td><td>${strength}</td><td>${shareText(control)}</td></tr>
`;
  });
  return html`<table>
<thead><tr><th>Control</th><th>What it asks</th><th>Status</th><th>Check</th><th>It held</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
<p class="quiet">The result of each control, with its evidence, caveat and failing times, is in ${CONTROLS_FOLDER}. A check that is partial shows a part of what the control asks for.</p>
`;
}

function facts(
  assessment: Assessment,
  { installation, workspace, exportedAt, version, keyFingerprint }: About,
): Markup {
  const rows: [string, string][] = [
    ['Framework', `asked for as ${assessment.framework}`],
    ['In scope', `peers: ${assessment.scope}`],
    ['Workspace', `${workspace.name} (${workspace.id})`],
    ['Installation', installation],
    ['Assessed', `${assessment.generated_at} by ${assessment.generated_by}`],
    ['Exported', `${formatInstant(exportedAt)} by Mesh ${version}`],
    ['States looked at', String(assessment.states_evaluated)],
    ['Evidence id', assessment.evidence_id],
    ['Verify it', 'VERIFY.md in the archive says how, with sha256sum and openssl alone'],
    ...(keyFingerprint === undefined ? [] : [['Key', keyFingerprint] satisfies [string, string]]),
  ];
  return html`<dl class="facts">
${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
`;
}
