import type { ControlResult, ControlStatus } from '../../compliance/control-result.ts';
import type { Assessment } from './about.ts';

export const STATUS_WORDS: Readonly<Record<ControlStatus, string>> = {
  pass: 'pass',
  fail: 'fail',
  insufficient_evidence: 'insufficient evidence',
};

const SHARE_OF: Readonly<Record<Exclude<ControlResult['passing_of'], 'now'>, string>> = {
  time: 'of the known time',
  changes: 'of the changes',
  days: 'of the days',
};

/** As `99.5 % of the known time`. What failed for a moment did not hold all the time. */
export function shareText({ passing_share: share, passing_of: of, failing }: ControlResult): string {
  if (share === null) return 'nothing was judged';
  if (of === 'now') return share === 1 ? 'held when assessed' : 'did not hold when assessed';
  const most = failing.length === 0 ? 100 : 99.99;
  return `${Math.min(most, Math.round(share * 10_000) / 100)} % ${SHARE_OF[of]}`;
}

export function withStatus({ controls }: Assessment, status: ControlStatus): readonly ControlResult[] {
  return controls.filter((control) => control.status === status);
}

/** Returns the failing controls by urgency: those that still fail first, then by the largest failing share. */
export function failingFirst(assessment: Assessment): readonly ControlResult[] {
  const rank = (control: ControlResult) => (failsStill(control, assessment) ? 0 : 1);
  return withStatus(assessment, 'fail').toSorted(
    (one, other) => rank(one) - rank(other) || (one.passing_share ?? 0) - (other.passing_share ?? 0),
  );
}

/** Returns true if a failing control failed at the end of the period, as far as its listed intervals show. */
export function failsStill(
  { passing_of: of, changes, failing, omitted_failing: omitted }: ControlResult,
  { period_end: end }: Assessment,
): boolean {
  const last = failing.at(-1);
  return (
    of === 'now' ||
    changes.length > 0 ||
    (omitted === 0 && last?.to === end && last.ended_by === null && last.from !== last.to)
  );
}

/** The disclaimer that accompanies every result of an assessment. */
export const NO_CERTIFICATE =
  'This is evidence for an auditor. It is no certificate, and no opinion of an auditor. What controls ask of people, of hosts and of anything outside of the overlay was not seen: the caveat of each control says what it leaves.';

/** How controls were judged, in sentences that hold for every assessment. */
export const METHOD: readonly string[] = [
  'What rests on the state of the network was judged at the beginning of the period, after every revision that changed a policy, a label, a network, a peer or an agent, and whenever something expired. A control fails when it failed at any time, were it for a moment.',
  'A change counts as reviewed where a person approved its workflow. What was approved automatically and what was written directly count as reviewed by nobody.',
  'What rests on accounts, sessions, tokens and settings was read as it was when the assessment was made: no history of it is kept.',
  'A control without anything to judge has insufficient evidence, which counts neither way in the score.',
];
