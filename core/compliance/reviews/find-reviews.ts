import { MeshError } from '../../base/errors.ts';
import { type WorkspaceSettings, workspaceById } from '../../model/workspaces.ts';
import type { NetworkServices } from '../../state/services.ts';
import {
  openKey,
  pageName,
  REVIEW_KINDS,
  type ReviewKind,
  type ReviewPageRecord,
  type ReviewRecord,
} from './review-record.ts';

type StoreServices = Pick<NetworkServices, 'store'>;

const DAY_MS = 86_400_000;
/** Six months, of which the longest have 184 days, and three, of which these have 92. */
export const CADENCE_DAYS: Readonly<Record<ReviewKind, number>> = { access: 184, policies: 184, activity: 92 };

/** How long after the list of one review the next is due, ms: how long people took to look at it makes it no newer. */
export function cadenceOf(settings: Pick<WorkspaceSettings, 'reviews'>, kind: ReviewKind): number {
  return (settings.reviews?.[kind] ?? CADENCE_DAYS[kind]) * DAY_MS;
}

/** When the next review of a kind is due, and what there is of it. Instants in ms. */
export interface DueReview {
  readonly kind: ReviewKind;
  readonly dueAt: number;
  /** Finished last. */
  readonly last: ReviewRecord | undefined;
  readonly open: ReviewRecord | undefined;
  /** True if the workspace wants reminders: it sets cadences, or has had such a review. */
  readonly isTold: boolean;
}

/** Returns the due date of each kind of review. @throws MeshError `not_found` for an unknown workspace */
export async function dueReviews(services: StoreServices, workspace: string): Promise<DueReview[]> {
  const { createdAt, spec } = await workspaceById(services, workspace);
  return Promise.all(
    REVIEW_KINDS.map(async (kind) => {
      const last = await lastFinished(services, workspace, kind);
      const open = await openReview(services, workspace, kind);
      const since = last?.spec.startedAt ?? createdAt;
      const dueAt = since + cadenceOf(spec.settings, kind);
      return { kind, dueAt, last, open, isTold: spec.settings.reviews !== undefined || last !== undefined };
    }),
  );
}

/** The review of a kind that was finished last, no later than at an instant where one is given (ms). */
export async function lastFinished(
  { store }: StoreServices,
  workspace: string,
  kind: ReviewKind,
  at = Number.POSITIVE_INFINITY,
): Promise<ReviewRecord | undefined> {
  const { items } = await store.list(workspace, 'Review');
  return items
    .filter(({ spec }) => spec.review === kind && spec.finished !== undefined && spec.finished.at <= at)
    .reduce<ReviewRecord | undefined>((found, one) => (found && endOf(found) >= endOf(one) ? found : one), undefined);
}

/**
 * The number of the first entry of the audit log that no finished review of activity covers, ranges that leave something out
 * before them apart. Reviews are kept for a time, so what is before the oldest is not asked for.
 */
export async function firstUnreviewed(
  { store }: StoreServices,
  workspace: string,
  at = Number.POSITIVE_INFINITY,
): Promise<number> {
  const { items } = await store.list(workspace, 'Review');
  const ranges = items.flatMap(({ spec: { range, finished } }) =>
    range && finished && finished.at <= at ? range : [],
  );
  const [first, ...others] = ranges.toSorted((a, b) => a.from - b.from);
  if (!first) return 0;
  return others.reduce((next, { from, to }) => (from <= next ? Math.max(next, to + 1) : next), first.to + 1);
}

function endOf({ spec }: ReviewRecord): number {
  return spec.finished?.at ?? 0;
}

export async function openReview(
  { store }: StoreServices,
  workspace: string,
  kind: ReviewKind,
): Promise<ReviewRecord | undefined> {
  const found = await store.lookup(openKey(kind), workspace);
  return found?.kind === 'Review' ? found : undefined;
}

/** @throws MeshError `not_found` */
export async function reviewById({ store }: StoreServices, workspace: string, id: string): Promise<ReviewRecord> {
  const record = await store.getById(workspace, 'Review', id);
  if (record) return record;
  throw new MeshError('not_found', `There is no review ${id} in this workspace: list_reviews shows them.`);
}

/** The pages of a review in order. */
export async function pagesOf(
  { store }: StoreServices,
  { workspace, uid, spec }: ReviewRecord,
): Promise<readonly ReviewPageRecord[]> {
  const { items } = await store.list(workspace, 'ReviewPage', { after: `${uid}.`, limit: spec.pages });
  const own = items.filter(({ name }) => name.startsWith(`${uid}.`));
  if (own.length === spec.pages) return own;
  throw new TypeError(`Of ${pageName(uid, spec.pages)} pages ${own.length} are there.`);
}
