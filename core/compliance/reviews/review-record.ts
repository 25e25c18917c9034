import { createHash } from 'node:crypto';
import { newId } from '../../base/ids.ts';
import { ordered } from '../../base/ordered.ts';
import type { Op } from '../../base/ports.ts';
import { draftOf, type NoStatus, type RecordDraft, type StoredRecord } from '../../base/record.ts';
import { snapshotNameAt } from '../../history/snapshot-record.ts';

export const REVIEW_KINDS = ['access', 'policies', 'activity'] as const;
export type ReviewKind = (typeof REVIEW_KINDS)[number];

export const ITEM_TYPES = [
  'person',
  'platform administrator',
  // All as one, in reviews that earlier versions started.
  'platform administrators',
  'agent',
  'API token',
  'join token',
  'webhook',
  'schedule',
  'device',
  'policy',
  'entries',
] as const;

export const VERDICTS = ['confirmed', 'flagged'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** The decision of a person on an item. */
export interface Decision {
  readonly verdict: Verdict;
  /** Empty where none was given. */
  readonly note: string;
  /** Actor, such as `user:ada`. */
  readonly by: string;
  readonly at: number;
  /** Whoever decided holds it themselves: nobody else could. */
  readonly own?: true;
}

/** The reviewed facts of an item. `told` holds details that may change without a change of access. */
export interface ItemFacts {
  /** Stays what it is while the review lasts: kind and id. */
  readonly id: string;
  readonly type: (typeof ITEM_TYPES)[number];
  readonly name: string;
  /** The facts under review, in fields of plain text; any other value calls for another review. */
  readonly facts: Readonly<Record<string, string>>;
  readonly told: Readonly<Record<string, string>>;
  /** The scopes that an item of access grants. */
  readonly scopes: readonly string[];
  /** Ids of the accounts that hold it. */
  readonly people: readonly string[];
}

export interface ReviewItem extends ItemFacts {
  readonly decision?: Decision;
}

/** A part of the audit log that was read: entries `from` to `to`, both among them, of the tree of `to` + 1 entries. */
export interface LogRange {
  readonly from: number;
  readonly to: number;
  /** Base64. */
  readonly root: string;
  /** Entries after it when the review was started. */
  readonly left: number;
}

export interface ReviewSpec {
  readonly review: ReviewKind;
  readonly startedAt: number;
  readonly startedBy: string;
  /** The revision of the workspace when the list was made. */
  readonly revision: number;
  /** SHA-256 in hex over what was looked at, see `digestOf`. */
  readonly digest: string;
  readonly items: number;
  readonly pages: number;
  /** The finished review of the kind before it. */
  readonly previous?: { readonly id: string; readonly startedAt: number };
  /** Sentences about the whole: what is not an item of its own. */
  readonly notes: readonly string[];
  readonly range?: LogRange;
  readonly finished?: {
    readonly at: number;
    readonly by: string;
    readonly note: string;
    /** Nobody else could have reviewed. */
    readonly alone: boolean;
    readonly confirmed: number;
    readonly flagged: number;
    /** Ended or gone before anybody decided. */
    readonly ended: number;
    /** Confirmed by who holds it, because nobody else could. */
    readonly own: number;
  };
}

/** Items of a review: one record is not large enough for all. */
export interface ReviewPageSpec {
  readonly review: string;
  readonly items: readonly ReviewItem[];
}

/** When a review was told to be due, so that it is told once. */
interface ReviewDueSpec {
  readonly review: ReviewKind;
  readonly dueAt: number;
}

declare module '../../base/record.ts' {
  interface RecordTypes {
    Review: { spec: ReviewSpec; status: NoStatus };
    ReviewPage: { spec: ReviewPageSpec; status: NoStatus };
    ReviewDue: { spec: ReviewDueSpec; status: NoStatus };
  }
}

export type ReviewRecord = StoredRecord<'Review'>;
export type ReviewPageRecord = StoredRecord<'ReviewPage'>;

/** Characters of a note on one item. */
export const MAX_ITEM_NOTE = 200;
/** Items of one review; a workspace with more reviews its devices by the networks that it splits them into. */
export const MAX_ITEMS = 50_000;

/** Bytes of one page as JSON, with what decisions add: compressed it stays below what a record may have. */
const PAGE_BYTES = 12_000;
const DECISION_BYTES = 700;

const EMPTY = { labels: {}, annotations: {}, status: {} } as const;

/** The records of a new review. Names run from the newest to the oldest. While it is open there is no other of its kind. */
export function reviewDrafts(
  spec: Omit<ReviewSpec, 'items' | 'pages' | 'digest'>,
  items: readonly ItemFacts[],
): readonly [RecordDraft<'Review'>, ...RecordDraft<'ReviewPage'>[]] {
  const uid = newId('rev');
  const pages = paged(items).map((page, index): RecordDraft<'ReviewPage'> => {
    return {
      ...EMPTY,
      kind: 'ReviewPage',
      name: pageName(uid, index),
      uid: newId('rev'),
      spec: { review: uid, items: page },
      unique: [],
    };
  });
  const whole: ReviewSpec = { ...spec, digest: digestOf(items), items: items.length, pages: pages.length };
  const name = `${snapshotNameAt(spec.startedAt)}.${uid}`;
  return [{ ...EMPTY, kind: 'Review', name, uid, spec: whole, unique: [openKey(spec.review)] }, ...pages];
}

/** The review as it is once finished: another of its kind may be started then. */
export function finishedOp(record: ReviewRecord, finished: NonNullable<ReviewSpec['finished']>, digest: string): Op {
  const { spec, revision } = record;
  return { op: 'update', record: { ...draftOf(record), spec: { ...spec, finished, digest }, unique: [] }, revision };
}

export function pageOp(record: ReviewPageRecord, items: readonly ReviewItem[]): Op {
  return { op: 'update', record: { ...draftOf(record), spec: { ...record.spec, items } }, revision: record.revision };
}

/** Returns the unique key that at most one open review of a kind holds. */
export function openKey(kind: ReviewKind): string {
  return `review:${kind}`;
}

export function pageName(uid: string, index: number): string {
  return `${uid}.${String(index).padStart(6, '0')}`;
}

/** SHA-256 in hex of what was looked at, and of the decisions once there are any. Without what is told besides. */
export function digestOf(items: readonly ReviewItem[]): string {
  const total = createHash('sha256');
  for (const { told: _, people: _people, ...item } of items) total.update(`${JSON.stringify(ordered(item))}\n`);
  return total.digest('hex');
}

/** SHA-256 in hex of one item, cut to what tells two versions of it apart. */
export function itemDigest({ id, type, name, facts, scopes }: ItemFacts): string {
  const text = JSON.stringify(ordered({ id, type, name, facts, scopes }));
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function paged(items: readonly ItemFacts[]): ItemFacts[][] {
  const pages: ItemFacts[][] = [];
  let left = 0;
  for (const item of items) {
    const bytes = new TextEncoder().encode(JSON.stringify(item)).length + DECISION_BYTES;
    if (pages.length === 0 || bytes > left) {
      pages.push([]);
      left = PAGE_BYTES;
    }
    pages.at(-1)?.push(item);
    left -= bytes;
  }
  return pages;
}
