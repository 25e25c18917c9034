import { formatInstant } from '../../base/time.ts';
import { workspaceById } from '../../model/workspaces.ts';
import { counted, listed } from '../check-result.ts';
import { currentItemsOf, isFlaggedInForce } from '../reviews/current-items.ts';
import { CADENCE_DAYS, cadenceOf, firstUnreviewed, lastFinished, pagesOf } from '../reviews/find-reviews.ts';
import type { ReviewKind, ReviewRecord } from '../reviews/review-record.ts';
import { type Fact, type FactContext, type FactReader, fails, holds, unknown } from './fact.ts';

const DAY_MS = 86_400_000;

const REVIEWERS: Readonly<Record<ReviewKind, string>> = {
  access: 'An administrator or auditor reviews who holds what access each six months',
  policies: 'An administrator or auditor reviews the policies each six months',
  activity: 'An auditor reviews the audit log at the set cadence',
};

/** At most six months old, whatever cadence the workspace has set. */
export const accessReview: FactReader = (context) => reviewFact(context, 'access', CADENCE_DAYS.access * DAY_MS);
export const policyReview: FactReader = (context) => reviewFact(context, 'policies', CADENCE_DAYS.policies * DAY_MS);
export const activityReview: FactReader = async (context) => {
  const { spec } = await workspaceById(context.services, context.workspace);
  return reviewFact(context, 'activity', cadenceOf(spec.settings, 'activity'));
};

/** Checks that a review was recent at the end of the period, and that nothing it flagged is in force now. */
async function reviewFact(context: FactContext, kind: ReviewKind, maxAgeMs: number): Promise<Fact> {
  const { services, workspace, at } = context;
  const isOfPeriod = true;
  const remedy = `${REVIEWERS[kind]} (mesh compliance review start ${kind}).`;
  const last = await lastFinished(services, workspace, kind, at);
  const when = formatInstant(at);
  if (!last?.spec.finished) {
    return { ...unknown(`No review of ${kind} was finished up to ${when}.`, remedy), isOfPeriod };
  }
  const told = reviewText(last, last.spec.finished);
  const dueAt = last.spec.startedAt + maxAgeMs;
  if (dueAt < at) {
    return {
      ...fails(`${told} The next was due at ${formatInstant(dueAt)} and was not finished up to ${when}.`, remedy),
      isOfPeriod,
    };
  }
  const unread = kind === 'activity' ? await oldUnreviewed(context, maxAgeMs) : undefined;
  if (unread !== undefined) return { ...fails(`${told} ${unread}`, remedy), isOfPeriod };
  const inForce = await flaggedInForce(context, last);
  if (inForce.length === 0) return { ...holds(told), isOfPeriod };
  const evidence = `${told} Flagged and still in force: ${listed(inForce)}.`;
  return {
    ...fails(evidence, `Whoever may ends what was flagged (mesh compliance review show ${last.uid}).`),
    isOfPeriod,
  };
}

/** Entries that no review covers and that are older than it may be, in words. */
async function oldUnreviewed({ services, workspace, at }: FactContext, maxAgeMs: number): Promise<string | undefined> {
  const next = await firstUnreviewed(services, workspace, at);
  const [entry] = await services.store.audit(workspace, { before: next + 1, limit: 1 });
  if (entry?.seq !== next || entry.at + maxAgeMs >= at) return undefined;
  return `From entry ${next} on, of ${formatInstant(entry.at)}, the log was not reviewed.`;
}

function reviewText({ uid, spec }: ReviewRecord, finished: NonNullable<ReviewRecord['spec']['finished']>): string {
  const { by, at, confirmed, flagged, ended, own, alone } = finished;
  const sentences = [
    `The review ${uid} of ${counted(spec.items, 'item')} was finished by ${by} at ${formatInstant(at)}: ${confirmed} confirmed, ${flagged} flagged, ${ended} ended meanwhile.`,
    spec.range ? `It covers the entries ${spec.range.from} to ${spec.range.to} of the audit log.` : '',
    alone ? 'Nobody else could have reviewed.' : '',
    own > 0 ? `${counted(own, 'item')} decided by who holds it.` : '',
  ];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

async function flaggedInForce({ services }: FactContext, review: ReviewRecord): Promise<string[]> {
  if (review.spec.finished?.flagged === 0) return [];
  const [pages, now] = await Promise.all([pagesOf(services, review), currentItemsOf(services, review)]);
  return pages
    .flatMap(({ spec }) => spec.items)
    .filter((item) => isFlaggedInForce(review, item, now))
    .map(({ type, name, id }) => `${type} ${name} (${id})`);
}
