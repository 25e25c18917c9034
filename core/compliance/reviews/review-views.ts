import type { Scope } from '../../base/scope.ts';
import { formatInstant } from '../../base/time.ts';
import type { HistoryServices } from '../../state/services.ts';
import { type CurrentItems, currentItemsOf, type ItemStatus, isFlaggedInForce } from './current-items.ts';
import { pagesOf, reviewById } from './find-reviews.ts';
import {
  type ItemFacts,
  itemDigest,
  type ReviewItem,
  type ReviewKind,
  type ReviewRecord,
  type Verdict,
} from './review-record.ts';

/** The filters for items: all, undecided ones, or those with a verdict. */
export const ITEM_FILTERS = ['all', 'open', 'flagged', 'confirmed'] as const;
export type ItemFilter = (typeof ITEM_FILTERS)[number];

/** A review without its items. */
export interface ReviewView {
  readonly id: string;
  readonly kind: ReviewKind;
  readonly state: 'open' | 'finished';
  readonly started_at: string;
  readonly started_by: string;
  readonly revision: number;
  readonly digest: string;
  readonly items_count: number;
  readonly previous: { readonly id: string; readonly started_at: string } | null;
  readonly notes: readonly string[];
  readonly range: {
    readonly from_seq: number;
    readonly to_seq: number;
    readonly root: string;
    readonly left: number;
  } | null;
  readonly finished: {
    readonly at: string;
    readonly by: string;
    readonly note: string;
    readonly alone: boolean;
    readonly confirmed: number;
    readonly flagged: number;
    readonly ended: number;
    readonly own: number;
  } | null;
}

export function reviewView({ uid, spec }: ReviewRecord): ReviewView {
  const { review, startedAt, startedBy, revision, digest, items, previous, notes, range, finished } = spec;
  return {
    id: uid,
    kind: review,
    state: finished ? 'finished' : 'open',
    started_at: formatInstant(startedAt),
    started_by: startedBy,
    revision,
    digest,
    items_count: items,
    previous: previous ? { id: previous.id, started_at: formatInstant(previous.startedAt) } : null,
    notes,
    range: range ? { from_seq: range.from, to_seq: range.to, root: range.root, left: range.left } : null,
    finished: finished ? { ...finished, at: formatInstant(finished.at) } : null,
  };
}

export interface ItemView {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly told: Readonly<Record<string, string>>;
  readonly scopes: readonly string[];
  readonly may: readonly string[];
  /** Since it was listed; of a finished review, since then. */
  readonly standing: ItemStatus;
  /** The digest of the item as it is shown, to be sent with a decision. */
  readonly digest: string;
  readonly decision: {
    readonly verdict: Verdict;
    readonly note: string;
    readonly by: string;
    readonly at: string;
    readonly own: boolean;
  } | null;
  /** True if a flagged item is still in force; null for an item that is not flagged. */
  readonly in_force: boolean | null;
  /** The operation that ends it, and the id or name that it takes. */
  readonly end_by: { readonly operation: string; readonly id: string } | null;
}

/**
 * A review with its items as they are now, in the order in which they were listed.
 *
 * @returns how many there are to look at yet, of what was flagged is in force, and came since
 * @throws MeshError `not_found`
 */
export async function showReview(services: HistoryServices, workspace: string, id: string, shown: ItemFilter) {
  const review = await reviewById(services, workspace, id);
  const [pages, now] = await Promise.all([pagesOf(services, review), currentItemsOf(services, review)]);
  const items = pages.flatMap(({ spec }) => spec.items);
  const placed = items.map((item, place) => ({ item, place }));
  return {
    review: reviewView(review),
    open: items.filter((item) => isOpen(item, review, now)).length,
    flagged_in_force: items.filter((item) => isFlaggedInForce(review, item, now)).length,
    new_since: review.spec.finished ? 0 : now.countBeside(new Set(items.map((item) => item.id))),
    // Places of items stay what they are, so cursors are made of them.
    items: placed.filter(({ item }) => matchesFilter(item, shown, review, now)),
    viewOf: (item: ReviewItem) => itemView(item, review, now),
  };
}

function matchesFilter(item: ReviewItem, shown: ItemFilter, review: ReviewRecord, now: CurrentItems): boolean {
  if (shown === 'all') return true;
  return shown === 'open' ? isOpen(item, review, now) : item.decision?.verdict === shown;
}

/** Returns true if somebody has to decide the item before the review can be finished. */
export function isOpen(item: ReviewItem, { spec }: ReviewRecord, now: CurrentItems): boolean {
  if (spec.finished) return false;
  const standing = now.standingOf(item);
  if (!item.decision) return standing !== 'ended';
  return item.decision.verdict === 'confirmed' && spec.review === 'access' && standing === 'changed';
}

function itemView(item: ReviewItem, review: ReviewRecord, now: CurrentItems): ItemView {
  const { id, type, name, decision } = item;
  const current: ItemFacts = (review.spec.finished ? undefined : now.get(id)) ?? item;
  const { facts, told, scopes } = current;
  return {
    id,
    type,
    name,
    facts,
    told,
    scopes,
    may: inWords(scopes),
    standing: now.standingOf(item),
    digest: itemDigest(current),
    decision: decision ? { ...decision, at: formatInstant(decision.at), own: decision.own === true } : null,
    in_force: decision?.verdict === 'flagged' && type !== 'entries' ? isFlaggedInForce(review, item, now) : null,
    end_by: endBy(item),
  };
}

/** The operation that ends what an item is. Entries of the log end by none. */
function endBy({ type, id, name }: ReviewItem): ItemView['end_by'] {
  const uid = id.slice(id.indexOf('/') + 1);
  switch (type) {
    case 'person':
      return { operation: 'remove_member', id: name };
    case 'platform administrator':
      return { operation: 'update_user', id: name };
    case 'platform administrators':
      return { operation: 'update_user', id: 'the account, by a platform administrator' };
    case 'agent':
      return { operation: 'revoke_agent', id: uid };
    case 'API token':
      return { operation: 'revoke_api_token', id: uid };
    case 'join token':
      return { operation: 'revoke_join_token', id: uid };
    case 'webhook':
      return { operation: 'delete_webhook', id: uid };
    case 'schedule':
      return uid === 'reviews'
        ? { operation: 'update_workspace', id: 'settings.reviews' }
        : { operation: 'delete_assessment_schedule', id: uid };
    case 'device':
      return { operation: 'revoke_peer', id: uid };
    case 'policy':
      return { operation: 'delete_policy', id: uid };
    case 'entries':
      return null;
    default:
      return type satisfies never;
  }
}

/** Each scope as who reviews access reads it: may … */
const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  'network:read': 'see the network',
  'network:write': 'change peers, policies and networks',
  'peers:approve': 'let devices in',
  'tokens:write': 'make join tokens',
  'snapshots:read': 'see the past',
  'snapshots:write': 'take snapshots',
  'intents:plan': 'plan changes',
  'intents:apply': 'ask for planned changes',
  'intents:override': 'apply what is not verified',
  'workflows:approve': 'approve changes of others',
  'audit:read': 'read the audit log',
  'compliance:assess': 'assess and review',
  'agents:write': 'make and end agents',
  'agents:delegate': 'make sub-agents',
  'members:write': 'change members and settings',
  'users:write': 'change accounts',
  'workspaces:write': 'make and delete workspaces',
};

/** Returns scopes in words. Names that are no scopes are roles and stay as they are. */
function inWords(scopes: readonly string[]): string[] {
  return scopes.map((scope) => (SCOPE_WORDS as Readonly<Record<string, string>>)[scope] ?? scope);
}
