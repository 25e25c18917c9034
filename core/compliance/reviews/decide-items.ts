import type { Caller } from '../../base/caller.ts';
import { commitContext } from '../../base/commit-context.ts';
import { invalidInput, MeshError } from '../../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../../base/ids.ts';
import type { CallContext } from '../../base/operation.ts';
import { requireSession } from '../../base/require-session.ts';
import { ROLE_SCOPES } from '../../base/scope.ts';
import { roleOf } from '../../identity/members.ts';
import type { HistoryServices, NetworkServices } from '../../state/services.ts';
import { listed } from '../check-result.ts';
import { type CurrentItems, currentItemsOf, type ItemStatus } from './current-items.ts';
import { pagesOf, reviewById } from './find-reviews.ts';
import {
  type Decision,
  digestOf,
  finishedOp,
  itemDigest,
  pageOp,
  type ReviewItem,
  type ReviewRecord,
  type Verdict,
} from './review-record.ts';
import { isOpen } from './review-views.ts';

/** The decision on an item; `digest` is that of the item as it was shown. */
export interface ItemDecision {
  readonly item: string;
  readonly verdict: Verdict;
  readonly note: string;
  readonly digest?: string | undefined;
}

export interface DecisionCounts {
  /** Decided by this call. */
  readonly decided: number;
  /** To be looked at yet, in the whole review. */
  readonly undecided: number;
  /** Not decided, because they changed since they were listed. */
  readonly changed: number;
  /** Not decided, because whoever holds them is the caller, and others may review. */
  readonly held_by_caller: number;
}

/** The caller who decides, and the circumstances of the decision. */
interface DecisionContext {
  readonly caller: Caller;
  readonly isAlone: boolean;
  readonly now: CurrentItems;
  readonly at: number;
}

/**
 * Decides items that are named, or confirms all that nobody has decided. Of those that are named either all are or none.
 *
 * @throws MeshError `forbidden` for anyone but a signed-in person, and for what the caller holds while others may review;
 * `not_found` for a review; `invalid_input` for items that it does not have; `conflict` for one that is finished, and for
 * items that have changed since they were shown
 */
export async function decideItems(
  id: string,
  asked: { readonly items: readonly ItemDecision[] } | { readonly allConfirmed: true; readonly note: string },
  context: CallContext<HistoryServices>,
): Promise<DecisionCounts> {
  const deciding = await decisionContextOf(id, context);
  const { review, pages, ...how } = deciding;
  const named = 'items' in asked ? decisionsById(asked.items) : undefined;
  const counts = { decided: 0, changed: 0, held_by_caller: 0 };
  const left = new Set(named?.keys());
  const written = pages.map((page) => {
    const items = page.spec.items.map((item): ReviewItem => {
      left.delete(item.id);
      if (named) {
        const decision = named.get(item.id);
        return decision ? decide(item, decision, how) : item;
      }
      const standing = how.now.standingOf(item);
      if (isChangedAccess(review, standing) && item.decision?.verdict !== 'flagged') {
        counts.changed += 1;
        return item;
      }
      if (item.decision || standing === 'ended') return item;
      if (concerns(item, how.caller) && !how.isAlone) {
        counts.held_by_caller += 1;
        return item;
      }
      const note = 'note' in asked ? asked.note : '';
      return { ...item, decision: decisionOf(item, { verdict: 'confirmed', note }, how) };
    });
    counts.decided += items.filter((item, at) => item !== page.spec.items[at]).length;
    return { page, items };
  });
  if (left.size > 0) throw noSuchItems([...left], named ?? new Map());
  const ops = written.flatMap(({ page, items }) =>
    items.some((item, at) => item !== page.spec.items[at]) ? [pageOp(page, items)] : [],
  );
  const check = { op: 'check', key: { kind: 'Review', name: review.name }, revision: review.revision } as const;
  const commit = commitContext(context, `decided ${counts.decided} items of the review ${review.uid}`);
  if (ops.length > 0) await context.services.store.commit(context.workspace, [check, ...ops], commit);
  const undecided = written.flatMap(({ items }) => items).filter((item) => isOpen(item, review, how.now)).length;
  return { ...counts, undecided };
}

/**
 * Finishes a review: nothing of it can be changed any more.
 *
 * @throws MeshError as `decideItems`; `conflict` while an item is undecided, or has changed since it was confirmed
 */
export async function finishReview(
  id: string,
  note: string,
  context: CallContext<HistoryServices>,
): Promise<ReviewRecord> {
  const { review, pages, caller, isAlone, now, at } = await decisionContextOf(id, context);
  const items = pages.flatMap(({ spec }) => spec.items);
  const ended = items.filter((item) => !item.decision && now.standingOf(item) === 'ended');
  const open = items.filter((item) => isOpen(item, review, now));
  if (open.length > 0) throw notDecided(open, review);
  const count = (meant: (decision: Decision) => boolean) =>
    items.filter(({ decision }) => decision !== undefined && meant(decision)).length;
  const finished = {
    at,
    by: caller.subject,
    note,
    alone: isAlone,
    confirmed: count(({ verdict }) => verdict === 'confirmed'),
    flagged: count(({ verdict }) => verdict === 'flagged'),
    ended: ended.length,
    own: count(({ own }) => own === true),
  };
  const checks = pages.map(({ kind, name, revision }) => ({ op: 'check', key: { kind, name }, revision }) as const);
  const ops = [...checks, finishedOp(review, finished, digestOf(items))];
  const commit = commitContext(context, `finished the review ${review.uid} of ${review.spec.review}`);
  await context.services.store.commit(context.workspace, ops, commit);
  return reviewById(context.services, context.workspace, id);
}

async function decisionContextOf(id: string, context: CallContext<HistoryServices>) {
  const caller = requireSession(context.caller);
  const { services, workspace } = context;
  const review = await reviewById(services, workspace, id);
  if (review.spec.finished) {
    throw new MeshError('conflict', `The review ${id} is finished: nothing of it changes any more. Start another one.`);
  }
  const [pages, now, hasOther] = await Promise.all([
    pagesOf(services, review),
    currentItemsOf(services, review),
    hasOtherReviewer(services, workspace, caller),
  ]);
  return { review, pages, now, caller, isAlone: !hasOther, at: services.clock.now() };
}

/** A review of policies is of a revision, whatever they become. */
function isChangedAccess({ spec }: ReviewRecord, standing: ItemStatus): boolean {
  return spec.review === 'access' && standing === 'changed';
}

/** An item with what was decided, as it is now where it was shown so. @throws MeshError */
function decide(item: ReviewItem, asked: ItemDecision, deciding: DecisionContext): ReviewItem {
  const { verdict, digest } = asked;
  if (verdict === 'confirmed' && concerns(item, deciding.caller) && !deciding.isAlone) {
    throw new MeshError(
      'forbidden',
      `You hold ${item.name} (${item.id}) yourself, so another person has to confirm it: an administrator or auditor.`,
    );
  }
  const current = deciding.now.get(item.id) ?? item;
  const seen = digest ?? itemDigest(item);
  if (itemDigest(current) !== seen && deciding.now.standingOf(item) !== 'ended') {
    throw new MeshError('conflict', `${item.name} (${item.id}) has changed: look at it again, and send its digest.`);
  }
  return { ...current, decision: decisionOf(item, asked, deciding) };
}

function decisionOf(
  item: ReviewItem,
  { verdict, note }: Pick<ItemDecision, 'verdict' | 'note'>,
  { caller, at }: Pick<DecisionContext, 'caller' | 'at'>,
): Decision {
  return { verdict, note, by: caller.subject, at, ...(concerns(item, caller) && { own: true }) };
}

function concerns({ people }: ReviewItem, { id }: Caller): boolean {
  return people.includes(id);
}

/** Each once. @throws MeshError `invalid_input` */
function decisionsById(items: readonly ItemDecision[]): ReadonlyMap<string, ItemDecision> {
  const named = new Map(items.map((one) => [one.item, one]));
  if (named.size === items.length) return named;
  const index = items.findIndex((one) => named.get(one.item) !== one);
  const detail = 'This item is named twice: decide it once.';
  throw invalidInput([{ pointer: `/items/${index}/item`, detail }], detail);
}

function noSuchItems(ids: readonly string[], named: ReadonlyMap<string, ItemDecision>): MeshError {
  const order = [...named.keys()];
  const detail = 'The review has no such item: get_review lists them.';
  return invalidInput(ids.slice(0, 10).map((id) => ({ pointer: `/items/${order.indexOf(id)}/item`, detail })));
}

function notDecided(open: readonly ReviewItem[], { uid }: ReviewRecord): MeshError {
  const names = listed(open.map(({ type, name }) => `${type} ${name}`));
  const detail = `${open.length === 1 ? 'One item is' : `${open.length} items are`} undecided or changed since: ${names}. Look at them (mesh compliance review show ${uid} --open), and decide.`;
  return new MeshError('conflict', detail);
}

/**
 * Returns true if another account may review in the workspace: one that is not disabled, of a platform administrator or of a
 * member whose role may assess. Without one, people confirm their own access, and the review records that.
 */
async function hasOtherReviewer(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  { id }: Pick<Caller, 'id'>,
): Promise<boolean> {
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Account');
  for (const account of items) {
    if (account.uid === id || account.spec.disabled) continue;
    if (account.spec.role === 'platform_admin') return true;
    const role = await roleOf(services, workspace, account);
    if (role && ROLE_SCOPES[role].has('compliance:assess')) return true;
  }
  return false;
}
