import { rootOf } from '../../audit/tree.ts';
import { invalidInput } from '../../base/errors.ts';
import type { AuditEntry } from '../../base/ports.ts';
import { formatInstant } from '../../base/time.ts';
import type { HistoryServices } from '../../state/services.ts';
import type { ItemFacts, LogRange } from './review-record.ts';

/** Entries of the audit log that one review covers at most. */
export const MAX_ENTRIES = 100_000;
const PAGE = 1_000;

interface ActorCount {
  count: number;
  first: AuditEntry;
  last: AuditEntry;
  readonly actors: Set<string>;
}

/** Actors counted of one type; more are said to be so many or more. */
const MAX_ACTORS = 1_000;

/**
 * Counts the audit log entries from one entry on, by type, each with its number of entries, its number of actors, and its
 * position.
 *
 * @param asked first and last entry; by default from `next` to the newest
 * @throws MeshError `invalid_input` for entries that do not exist, or for too many
 */
export async function activityItems(
  { store }: HistoryServices,
  workspace: string,
  asked: { readonly from?: number | undefined; readonly to?: number | undefined },
  next: number,
): Promise<{ readonly items: ItemFacts[]; readonly range: LogRange }> {
  const tree = store.auditTree(workspace);
  const size = await tree.size();
  const from = asked.from ?? next;
  const to = asked.to ?? Math.min(size, from + MAX_ENTRIES) - 1;
  requireRange(from, to, size);
  requireNoGap(from, next);
  const found = new Map<string, ActorCount>();
  for (let before = to + 1; before > from; ) {
    const entries = await store.audit(workspace, { before, limit: Math.min(PAGE, before - from) });
    for (const entry of entries) count(found, entry);
    before = entries.at(-1)?.seq ?? from;
  }
  const root = await rootOf(to + 1, (ids) => tree.hashes(ids));
  return {
    items: [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, counted]) => itemOf(type, counted)),
    range: { from, to, root: base64Of(root), left: size - to - 1 },
  };
}

function requireRange(from: number, to: number, size: number): void {
  const refuse = (field: string, detail: string) => {
    throw invalidInput([{ pointer: `/${field}`, detail }], `/${field}: ${detail}`);
  };
  if (from >= size) {
    refuse(
      'from_seq',
      `The log has ${size} entries, and all before ${from} were reviewed: name from_seq to review some again.`,
    );
  }
  if (to >= size) refuse('to_seq', `The log has ${size} entries: the last one is ${size - 1}.`);
  if (to < from) refuse('to_seq', 'The range ends before it begins: swap from_seq and to_seq.');
  if (to - from >= MAX_ENTRIES)
    refuse('to_seq', `One review covers ${MAX_ENTRIES} entries at most: review the log in parts.`);
}

/** Refuses a range that skips entries: the next review begins after this one, so nobody would review them. */
function requireNoGap(from: number, next: number): void {
  if (from <= next) return;
  const detail = `The entries ${next} to ${from - 1} were not reviewed yet: begin with ${next}, or before it.`;
  throw invalidInput([{ pointer: '/from_seq', detail }], `/from_seq: ${detail}`);
}

function count(found: Map<string, ActorCount>, entry: AuditEntry): void {
  const type = typeOf(entry);
  const known = found.get(type);
  if (!known) {
    found.set(type, { count: 1, first: entry, last: entry, actors: new Set([entry.actor]) });
    return;
  }
  known.count += 1;
  // Entries come newest first.
  known.first = entry;
  if (known.actors.size < MAX_ACTORS) known.actors.add(entry.actor);
}

/** `refused` and the like, or what a commit is: made directly, by the control plane itself, or the end of a request. */
function typeOf({ actor, commit, event }: AuditEntry): string {
  if (event) return event.result === 'refused' && event.type !== 'refused' ? `${event.type} (refused)` : event.type;
  if (!commit) return 'others';
  const isOfWorkflow = commit.changes.some(({ kind }) => kind === 'Workflow');
  if (isOfWorkflow && /^workflow \S+ rejected:/.test(commit.reason)) return 'approval denied';
  if (commit.direct) return 'change made directly';
  if (commit.approval) return 'change with an approval';
  return actor.startsWith('system:') ? 'change by the control plane' : 'change';
}

function itemOf(type: string, { count, first, last, actors }: ActorCount): ItemFacts {
  return {
    id: `entries/${type}`,
    type: 'entries',
    name: type,
    facts: {
      count: String(count),
      actors: actors.size < MAX_ACTORS ? String(actors.size) : `${MAX_ACTORS} or more`,
      first_seq: String(first.seq),
      last_seq: String(last.seq),
      first: formatInstant(first.at),
      last: formatInstant(last.at),
    },
    told: {},
    scopes: [],
    people: [],
  };
}

function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
