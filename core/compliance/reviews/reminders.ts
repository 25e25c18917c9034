import { newId, SYSTEM_WORKSPACE } from '../../base/ids.ts';
import type { Op } from '../../base/ports.ts';
import { draftOf } from '../../base/record.ts';
import { formatInstant } from '../../base/time.ts';
import { snapshotNameAt } from '../../history/snapshot-record.ts';
import type { NetworkServices } from '../../state/services.ts';
import { RETENTION_MS } from '../retention.ts';
import { type DueReview, dueReviews } from './find-reviews.ts';
import { pageName, type ReviewRecord } from './review-record.ts';

type Uses = Pick<NetworkServices, 'store' | 'clock' | 'edition'>;

/**
 * Tells of each review that is due, once for each instant at which one is: as the event `review.due` of the audit log, and
 * as a change of the record that remembers it.
 *
 * @returns how many were told
 */
export async function announceDueReviews(services: Uses, workspace: string): Promise<number> {
  const { store, clock, edition } = services;
  if (edition !== 'pro' || !(await store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace))) return 0;
  let told = 0;
  for (const due of await dueReviews(services, workspace)) {
    if (due.isTold && due.dueAt <= clock.now() && (await announceReview(services, workspace, due))) told += 1;
  }
  return told;
}

/** Tells of one that is due. @returns false where it was told before */
export async function announceReview(
  { store }: Pick<Uses, 'store'>,
  workspace: string,
  { kind, dueAt }: Pick<DueReview, 'kind' | 'dueAt'>,
): Promise<boolean> {
  const known = await store.get(workspace, { kind: 'ReviewDue', name: kind });
  if (known?.spec.dueAt === dueAt) return false;
  const spec = { review: kind, dueAt };
  const draft = {
    kind: 'ReviewDue',
    name: kind,
    uid: newId('rev'),
    labels: {},
    annotations: {},
    status: {},
    unique: [],
  };
  const op: Op = known
    ? { op: 'update', record: { ...draftOf(known), spec }, revision: known.revision }
    : { op: 'create', record: { ...draft, kind: 'ReviewDue', spec } };
  const actor = 'system:reviews';
  const detail = { kind, due_at: formatInstant(dueAt) };
  await store.commit(workspace, [op], {
    actor,
    reason: `a review of ${kind} is due since ${detail.due_at}`,
    requestId: newId('r'),
    securityEvents: [{ type: 'review.due', actor, result: 'ok', detail }],
  });
  return true;
}

/** Reviews deleted in one commit, with their pages. */
const BATCH = 10;

/** Deletes finished reviews that are older than they are kept. @returns how many */
export async function removeOldReviews(
  { store, clock }: Pick<Uses, 'store' | 'clock'>,
  workspace: string,
): Promise<number> {
  const { items } = await store.list(workspace, 'Review', { after: snapshotNameAt(clock.now() - RETENTION_MS - 1) });
  const old = items.filter(({ spec }) => spec.finished && spec.finished.at < clock.now() - RETENTION_MS);
  const context = { actor: 'system:retention', reason: 'reviews past their time', requestId: newId('r') };
  for (let from = 0; from < old.length; from += BATCH) {
    await store.commit(workspace, old.slice(from, from + BATCH).flatMap(deletions), context);
  }
  return old.length;
}

function deletions({ kind, name, uid, spec }: ReviewRecord): Op[] {
  const pages = Array.from({ length: spec.pages }, (_, index): Op => {
    return { op: 'delete', key: { kind: 'ReviewPage', name: pageName(uid, index) } };
  });
  return [...pages, { op: 'delete', key: { kind, name } }];
}
