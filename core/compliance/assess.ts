import { formatInstant } from '../base/time.ts';
import { commitAt } from '../history/commits-between.ts';
import { networkMoments } from '../history/network-moments.ts';
import { type WorkspaceSettings, workspaceById } from '../model/workspaces.ts';
import type { ThreadServices } from '../state/services.ts';
import { catalogOf } from './catalog.ts';
import { changesAmong, type NetworkChangeRecord } from './changes.ts';
import { counted } from './check-result.ts';
import { type CheckName, checkOf } from './checks/index.ts';
import { type ControlJudgment, type ControlResult, controlResult } from './control-result.ts';
import type { Catalog, Control, Framework } from './frameworks.ts';
import { judgeChanges, judgeDays, judgeFact, judgeSpans } from './judge.ts';
import { type Period, periodOf } from './period.ts';
import { remediationOf } from './remedies.ts';
import { scopeRule } from './scope.ts';
import { scopeChanges } from './scope-changes.ts';
import { type SnapshotDays, snapshotDays } from './snapshot-days.ts';
import { deadlinesOf, type SweepResult, sweep, viewer } from './sweep.ts';

export interface AssessmentPeriod {
  readonly framework: Framework;
  /** ISO 8601. */
  readonly from: string;
  readonly to: string;
}

/** The result of an assessment before it is stored. */
export interface AssessmentResult {
  readonly score: number;
  readonly status: 'pass' | 'fail' | 'partial';
  readonly controls: readonly ControlResult[];
  readonly summary: string;
  readonly gaps: readonly string[];
  /** Labels of the peers that it is about. */
  readonly scope: string;
  /** Different states of the network that were looked at. */
  readonly states: number;
  /** The instant until which it was judged, ms. */
  readonly to: number;
}

type Services = Pick<ThreadServices, 'store' | 'states' | 'clock' | 'settings' | 'logs'>;

/**
 * Judges every control of a framework over a period.
 *
 * @throws MeshError as `periodOf` and `sweep` do
 */
export async function assessPeriod(
  services: Services,
  workspace: string,
  asked: AssessmentPeriod,
): Promise<AssessmentResult> {
  const catalogue = catalogOf(asked.framework);
  const period = await periodOf(services, workspace, asked);
  const { settings } = (await workspaceById(services, workspace)).spec;
  const known = await checkInputsOf(services, workspace, period, catalogue, settings);
  const controls: ControlResult[] = [];
  const judged = new Map<CheckName, Promise<ControlJudgment>>();
  for (const control of catalogue.controls) {
    const { check } = control;
    const own = judged.get(check) ?? judge(services, workspace, check, known);
    judged.set(check, own);
    controls.push(controlResult(control, contractJudgment(control, await own, period), period.lost !== undefined));
  }
  const gaps = [...period.gaps, ...known.scopeChanges, ...missingDays(known.days)];
  return {
    ...totalOf(controls),
    controls,
    summary: summaryOf(catalogue, controls, period, gaps),
    gaps,
    scope: known.scope,
    states: known.swept.states,
    to: period.to,
  };
}

/** All that checks are asked about. */
interface CheckInputs {
  readonly changes: readonly NetworkChangeRecord[];
  readonly swept: SweepResult;
  readonly days: SnapshotDays;
  readonly scope: string;
  readonly period: { readonly from: number; readonly to: number };
  /** How who is in scope was changed, in sentences. */
  readonly scopeChanges: readonly string[];
  readonly remedyOf: (check: Parameters<typeof remediationOf>[0]) => ReturnType<typeof remediationOf>;
}

async function checkInputsOf(
  services: Services,
  workspace: string,
  { range, from, to, createdAt }: Period,
  catalogue: Catalog,
  settings: WorkspaceSettings,
): Promise<CheckInputs> {
  const { states, clock } = services;
  const rule = scopeRule(catalogue.scope, settings);
  const reviewers = new Map<number, string | undefined>();
  const viewAt = viewer({
    rule,
    subject: catalogue.subject,
    sources: settings.compliance?.sources ?? [],
    reviewOf: (revision) => reviewers.get(revision),
  });
  const names = [...new Set(catalogue.controls.map(({ check }) => check))];
  const network = range && (await networkMoments(services, workspace, range, deadlinesOf));
  const changes = network && range ? await changesAmong(services, workspace, network.steps, range) : [];
  const current = await states.current(workspace);
  const written = [...current.policies.values(), ...(network?.start.policies.values() ?? [])];
  if (names.some((name) => name === 'running-as-approved')) {
    for (const { revision, reviewedBy } of changes) reviewers.set(revision, reviewedBy);
    for (const { revision } of written) {
      if (!reviewers.has(revision)) reviewers.set(revision, await reviewerOf(services, workspace, revision));
    }
  }
  const nothing: SweepResult = { spans: new Map(), last: new Map(), states: 0 };
  const swept = network && range ? sweep(network, range.to, names, viewAt) : nothing;
  const now = viewAt(current, clock.now());
  const { timeZone } = settings;
  const span = { from: Math.max(from, createdAt, range?.since ?? from), to };
  return {
    changes,
    swept,
    days: range ? await snapshotDays(services, workspace, span, timeZone) : { due: [], missing: [] },
    scope: rule.text,
    period: { from, to },
    scopeChanges: await scopeChanges(services, workspace, { from, rule, steps: network?.steps ?? [] }),
    remedyOf: (check) => remediationOf(check, now, viewAt),
  };
}

/** Undefined where the commit is no longer kept. */
async function reviewerOf(services: Services, workspace: string, revision: number): Promise<string | undefined> {
  const commit = await commitAt(services, workspace, revision);
  return commit && (commit.approval?.reviewedBy ?? '');
}

async function judge(
  services: Services,
  workspace: string,
  name: CheckName,
  known: CheckInputs,
): Promise<ControlJudgment> {
  const check = checkOf(name);
  switch (check.on) {
    case 'state': {
      const [spans = [], last = ''] = [known.swept.spans.get(name), known.swept.last.get(name)];
      return judgeSpans(services, workspace, { spans, last }, known.remedyOf, check);
    }
    case 'changes':
      return judgeChanges(check, known.changes);
    case 'snapshots':
      return judgeDays(check, known.days);
    case 'fact':
      return judgeFact(check, { services, workspace, from: known.period.from, at: known.period.to });
    default:
      return check satisfies never;
  }
}

/**
 * The contract's four know no third answer: where a part of the time in which the workspace was there is no longer kept, or
 * nothing is known at all, nothing shows that they held, so they fail and name what is lost.
 */
function contractJudgment(
  { isOfContract, check }: Control,
  judged: ControlJudgment,
  { range, lost, from, to }: Period,
): ControlJudgment {
  if (!isOfContract || (!lost && (range || checkOf(check).on === 'changes'))) return judged;
  const [start, end] = [formatInstant(lost?.from ?? from), formatInstant(lost?.to ?? to)];
  const evidence = lost
    ? `What the network was from ${start} to ${end} is no longer kept: nothing shows that this held then.`
    : `Nothing is known of the network from ${start} to ${end}.`;
  const text = lost
    ? `An auditor assesses a period that begins at ${end} or later, and rests on the assessments that were kept before for the time until then (list_assessments).`
    : 'An auditor assesses a period of which states are kept.';
  const both = judged.holds === false ? `${judged.remedy.text} ${text}` : text;
  return {
    ...judged,
    holds: false,
    evidence: range ? `${evidence} In the rest: ${judged.evidence}` : evidence,
    remedy: { ...judged.remedy, text: both },
  };
}

/** `pass` and `fail` alone count: what could not be judged is told, and is no point either way. */
function totalOf(controls: readonly ControlResult[]): Pick<AssessmentResult, 'score' | 'status'> {
  const count = (status: ControlResult['status']) => controls.filter((one) => one.status === status).length;
  const [passed, failed] = [count('pass'), count('fail')];
  const score = passed + failed === 0 ? 0 : Math.round((100 * passed) / (passed + failed));
  return { score, status: passed === 0 ? 'fail' : failed === 0 ? 'pass' : 'partial' };
}

function summaryOf(
  { title, controls: all }: Catalog,
  controls: readonly ControlResult[],
  { from, to }: Period,
  gaps: readonly string[],
): string {
  const of = (status: ControlResult['status']) => controls.filter((one) => one.status === status);
  const failed = of('fail').map(({ id }) => id);
  const sentences = [
    `${title} from ${formatInstant(from)} to ${formatInstant(to)}: of ${counted(all.length, 'control')} ${of('pass').length} pass, ${failed.length} fail and ${of('insufficient_evidence').length} lack evidence.`,
    ...(failed.length > 0 ? [`Failing: ${failed.join(', ')}.`] : []),
    ...gaps,
  ];
  return sentences.join(' ');
}

function missingDays({ due, missing }: SnapshotDays): string[] {
  if (missing.length === 0) return [];
  return [`${missing.length} of ${counted(due.length, 'daily snapshot')} are missing.`];
}
