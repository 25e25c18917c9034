import { formatInstant } from '../base/time.ts';
import { failingChange, failingOf } from './causes.ts';
import type { NetworkChangeRecord } from './changes.ts';
import { counted, listed } from './check-result.ts';
import type { ChangeCheck, FactCheck, SnapshotCheck, StateCheck } from './checks/check.ts';
import type { ControlJudgment, FailingInterval } from './control-result.ts';
import type { FactContext } from './facts/fact.ts';
import { FACTS } from './facts.ts';
import { NO_REMEDY, type Remediation } from './remedies.ts';
import type { SnapshotDays } from './snapshot-days.ts';
import { passingShare, type Span } from './timeline.ts';

/** Failing intervals of which the cause is looked up, and told in evidence. */
const MAX_LOOKED_UP = 10;
const MAX_LISTED = 3;
const NOTHING_KNOWN = 'Nothing is known of the network in the period.';

/** @param last what is told of the end of the period */
export async function judgeSpans(
  services: Pick<FactContext['services'], 'store'>,
  workspace: string,
  { spans, last }: { readonly spans: readonly Span[]; readonly last: string },
  remedyOf: (check: StateCheck) => Remediation,
  check: StateCheck,
): Promise<ControlJudgment> {
  const share = passingShare(spans);
  const failing = await failingOf(services, workspace, spans, MAX_LOOKED_UP);
  const holds = share === undefined ? undefined : failing.length === 0;
  const evidence = [
    ...(share === undefined ? [] : [`Held for ${percent(share)} of the time that is known.`]),
    ...(failing.length === 0 ? [] : [`Failed ${counted(failing.length, 'time')}: ${failingText(failing)}`]),
    spans.length === 0 ? NOTHING_KNOWN : endText(spans.at(-1), last),
  ];
  const remedy = holds === false ? remedyOf(check) : { ...NO_REMEDY, text: nothingToJudge(last) };
  return { holds, evidence: joined(evidence), share, of: 'time', failing, remedy };
}

/** Returns a sentence about the end of the period, unless the interval that contains it already says the same. */
function endText(span: Span | undefined, last: string): string {
  if (span?.holds === false && span.facts === last) return 'It fails still at the end of the period.';
  return last === '' ? '' : `At the end of the period: ${last}`;
}

function failingText(failing: readonly FailingInterval[]): string {
  const told = failing
    .slice(0, MAX_LISTED)
    .map(({ from, to, facts, begun_by: begun }) => `from ${from} to ${to}${begunText(begun)}: ${facts}`);
  const left = failing.length - MAX_LISTED;
  return left > 0 ? `${told.join(' ')} ${left} more.` : told.join(' ');
}

function begunText(begun: FailingInterval['begun_by']): string {
  if (!begun) return '';
  if (begun.revision === null) return ` (${listed(begun.resources)})`;
  const approval = begun.workflow_id === null ? 'no workflow' : begun.workflow_id;
  return ` (revision ${begun.revision} by ${begun.actor}, ${approval}, ${begun.reviewed_by === null ? 'reviewed by nobody' : `reviewed by ${begun.reviewed_by}`})`;
}

function nothingToJudge(last: string): string {
  return last === ''
    ? 'An auditor assesses a period in which there was a network.'
    : 'Nothing has to be done where that is right. Where something is there that the control is about, a network operator labels it, and an auditor assesses again.';
}

export function judgeChanges(
  { noun, isMeant, fault, remedy, aside }: ChangeCheck,
  all: readonly NetworkChangeRecord[],
): ControlJudgment {
  const meant = all.filter(isMeant);
  const failing = meant.flatMap((change) => {
    const found = fault(change);
    return found === undefined ? [] : [failingChange(change, found)];
  });
  const automatic = all.filter((change) => change.isAutomatic).length;
  const passing = meant.length - failing.length;
  const evidence = [
    meant.length === 0
      ? `0 ${noun}s in the period.`
      : `${passing} of ${counted(meant.length, noun)} in the period pass.`,
    failing.length === 0 ? '' : `Not: ${listed(failing.map(changeText), MAX_LISTED, '; ')}.`,
    meant.length > 0 && failing.length === 0
      ? `Revisions ${listed(meant.map(({ revision }) => String(revision)))}.`
      : '',
    aside?.(all) ?? '',
    automatic === 0
      ? ''
      : `${counted(automatic, 'change')} followed from what was decided before and ${automatic === 1 ? 'is' : 'are'} counted apart.`,
  ];
  return {
    holds: meant.length === 0 ? undefined : failing.length === 0,
    evidence: joined(evidence),
    share: meant.length === 0 ? undefined : passing / meant.length,
    of: 'changes',
    failing,
    remedy: {
      ...NO_REMEDY,
      text:
        meant.length === 0
          ? 'Nothing has to be done: an auditor assesses a period in which something was changed.'
          : remedy,
    },
  };
}

function changeText({ from, facts, begun_by: by }: FailingInterval): string {
  const workflow = by?.workflow_id ? ` in ${by.workflow_id}` : '';
  return `revision ${by?.revision} (${listed(by?.resources ?? [], 2)}) by ${by?.actor}${workflow} at ${from}: ${facts}`;
}

export async function judgeFact({ fact }: FactCheck, context: FactContext): Promise<ControlJudgment> {
  const { holds, evidence, remedy, isOfPeriod } = await FACTS[fact](context);
  const now = formatInstant(context.services.clock.now());
  return {
    holds,
    evidence: isOfPeriod ? evidence : `As it is at ${now}, of which no history is kept: ${evidence}`,
    share: holds === undefined ? undefined : Number(holds),
    of: 'now',
    failing: [],
    remedy: { ...NO_REMEDY, text: remedy },
  };
}

export function judgeDays({ remedy }: SnapshotCheck, { due, missing }: SnapshotDays): ControlJudgment {
  const isNothing = due.length === 0;
  const evidence = isNothing
    ? 'No daily snapshot was due in the period.'
    : `${due.length - missing.length} of ${counted(due.length, 'daily snapshot')} were taken.${
        missing.length > 0 ? ` Missing: ${listed(missing.map(formatInstant))}.` : ''
      }`;
  return {
    holds: isNothing ? undefined : missing.length === 0,
    evidence,
    share: isNothing ? undefined : 1 - missing.length / due.length,
    of: 'days',
    failing: [],
    remedy: { ...NO_REMEDY, text: isNothing ? 'An auditor assesses a period of a day or more.' : remedy },
  };
}

function percent(share: number): string {
  // A control that failed for a moment must not read 100 %.
  const rounded = Math.min(share === 1 ? 100 : 99.99, Math.round(share * 10_000) / 100);
  return `${rounded} %`;
}

function joined(sentences: readonly string[]): string {
  return sentences.filter((sentence) => sentence !== '').join(' ');
}
