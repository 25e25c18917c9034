import { commitContext } from '../../base/commit-context.ts';
import { invalidInput, MeshError } from '../../base/errors.ts';
import type { CallContext } from '../../base/operation.ts';
import { type Op, StoreError } from '../../base/ports.ts';
import { requireSession } from '../../base/require-session.ts';
import type { HistoryServices } from '../../state/services.ts';
import { accessItems } from './access-items.ts';
import { activityItems } from './activity-items.ts';
import { firstUnreviewed, lastFinished, openReview, pagesOf, reviewById } from './find-reviews.ts';
import { policyItems } from './policy-items.ts';
import { MAX_ITEMS, type ReviewKind, type ReviewRecord, reviewDrafts } from './review-record.ts';

export interface NewReview {
  readonly kind: ReviewKind;
  /** The first entry that a review of activity covers. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/**
 * Lists what is to be reviewed, as it is now, and keeps the list.
 *
 * @throws MeshError `forbidden` for anyone but a signed-in person; `conflict` while one of the kind is open;
 * `invalid_input` for entries of another kind of review or that there are not
 */
export async function startReview(asked: NewReview, context: CallContext<HistoryServices>): Promise<ReviewRecord> {
  const { subject } = requireSession(context.caller);
  const { services, workspace } = context;
  requireRangeOfActivity(asked);
  const open = await openReview(services, workspace, asked.kind);
  if (open) throw isOpen(open.uid, asked.kind);
  const previous = await lastFinished(services, workspace, asked.kind);
  const revision = await services.store.revision(workspace);
  const listed = await itemsOf(services, workspace, asked, previous);
  if (listed.items.length > MAX_ITEMS) {
    const detail = `There are ${listed.items.length} items; a review has at most ${MAX_ITEMS}: split the workspace.`;
    throw new MeshError('payload_too_large', detail);
  }
  const drafts = reviewDrafts(
    {
      review: asked.kind,
      startedAt: services.clock.now(),
      startedBy: subject,
      revision: listed.revision ?? revision,
      notes: listed.notes,
      ...(listed.range && { range: listed.range }),
      ...(previous && { previous: { id: previous.uid, startedAt: previous.spec.startedAt } }),
    },
    listed.items,
  );
  const ops = drafts.map((record): Op => ({ op: 'create', record }));
  try {
    await services.store.commit(workspace, ops, commitContext(context, `started a review of ${asked.kind}`));
  } catch (error) {
    if (!(error instanceof StoreError && error.code === 'unique')) throw error;
    throw isOpen('one', asked.kind);
  }
  return reviewById(services, workspace, drafts[0].uid);
}

interface ReviewContents extends Pick<Awaited<ReturnType<typeof policyItems>>, 'items' | 'notes'> {
  readonly range?: ReviewRecord['spec']['range'];
  readonly revision?: number;
}

async function itemsOf(
  services: HistoryServices,
  workspace: string,
  { kind, from, to }: NewReview,
  previous: ReviewRecord | undefined,
): Promise<ReviewContents> {
  switch (kind) {
    case 'access':
      return { items: await accessItems(services, workspace), notes: [] };
    case 'policies': {
      const before = previous && (await pagesOf(services, previous)).flatMap(({ spec }) => spec.items);
      return policyItems(services, workspace, before);
    }
    case 'activity': {
      const next = await firstUnreviewed(services, workspace);
      return { ...(await activityItems(services, workspace, { from, to }, next)), notes: [] };
    }
    default:
      return kind satisfies never;
  }
}

function requireRangeOfActivity({ kind, from, to }: NewReview): void {
  if (kind === 'activity' || (from === undefined && to === undefined)) return;
  const detail = 'Only a review of activity is about entries of the log: leave from_seq and to_seq out.';
  throw invalidInput([{ pointer: from === undefined ? '/to_seq' : '/from_seq', detail }], detail);
}

function isOpen(id: string, kind: ReviewKind): MeshError {
  return new MeshError('conflict', `A review of ${kind} is open (${id}): finish it first (mesh compliance reviews).`);
}
