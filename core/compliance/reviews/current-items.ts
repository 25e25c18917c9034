import type { HistoryServices } from '../../state/services.ts';
import { accessItems } from './access-items.ts';
import { policyDigests } from './policy-items.ts';
import { type ItemFacts, itemDigest, type ReviewItem, type ReviewRecord } from './review-record.ts';

/** The status of an item since it was listed. `ended`: it no longer exists, or grants less. */
export type ItemStatus = 'same' | 'changed' | 'ended';

/** The items of a review as they are now. */
export interface CurrentItems {
  standingOf(item: ReviewItem): ItemStatus;
  /** Returns the present facts of an item; undefined where it has ended. */
  get(id: string): ItemFacts | undefined;
  /** Items that are not in the review. */
  countBeside(ids: ReadonlySet<string>): number;
}

/** Entries of the log do not change, so nothing of them ends. */
const UNCHANGED: CurrentItems = { standingOf: () => 'same', get: () => undefined, countBeside: () => 0 };

/** Looks at what is there now of what a review is about. */
export async function currentItemsOf(
  services: HistoryServices,
  { workspace, spec }: ReviewRecord,
): Promise<CurrentItems> {
  switch (spec.review) {
    case 'access':
      return currentAccess(await accessItems(services, workspace));
    case 'policies':
      return currentPolicies(await policyDigests(services, workspace));
    case 'activity':
      return UNCHANGED;
    default:
      return spec.review satisfies never;
  }
}

function currentAccess(items: readonly ItemFacts[]): CurrentItems {
  const byId = new Map(items.map((item) => [item.id, item]));
  return {
    standingOf(item) {
      const now = byId.get(item.id);
      // Earlier versions listed platform administrators as one item, so nobody can tell whether each of them has ended.
      if (item.type === 'platform administrators') return item.decision?.verdict === 'flagged' ? 'changed' : 'same';
      if (!now) return 'ended';
      if (itemDigest(now) === itemDigest(item)) return 'same';
      const [had, has] = [new Set(item.scopes), new Set(now.scopes)];
      // Less of the same is what a flag asks for; anything else is looked at again.
      return item.decision?.verdict === 'flagged' && has.size < had.size && has.isSubsetOf(had) ? 'ended' : 'changed';
    },
    get: (id) => byId.get(id),
    countBeside: (ids) => items.filter(({ id }) => !ids.has(id)).length,
  };
}

/** A review of policies is of a revision: what is written later is for the next one. */
function currentPolicies(digests: ReadonlyMap<string, string>): CurrentItems {
  return {
    standingOf({ id, facts }) {
      const now = digests.get(id);
      if (now === undefined) return 'ended';
      return now === facts['digest'] ? 'same' : 'changed';
    },
    get: () => undefined,
    countBeside: () => 0,
  };
}

/** Returns true if a flagged item is still in force. A policy that was changed counts as another one. */
export function isFlaggedInForce({ spec }: ReviewRecord, item: ReviewItem, now: CurrentItems): boolean {
  if (spec.review === 'activity' || item.decision?.verdict !== 'flagged') return false;
  const standing = now.standingOf(item);
  return spec.review === 'access' ? standing !== 'ended' : standing === 'same';
}
