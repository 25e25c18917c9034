import { invalidInput, MeshError } from '../../base/errors.ts';
import { instantText } from '../../base/text.ts';
import { formatInstant, parseInstant } from '../../base/time.ts';
import type { NetworkServices } from '../../state/services.ts';
import { beforeHistory, beginningText } from '../beginning.ts';

/** A span of time and the revisions in force in it, ms. */
export interface Range {
  /** As asked for. */
  readonly from: number;
  readonly to: number;
  /** The end that was asked for, where it lies ahead: the range ends now instead. */
  readonly cutFrom?: number;
  /** Since when what was asked for is known: `from`, or later where history begins or is kept only since then. */
  readonly since: number;
  /** Since when anything is known at all. */
  readonly keptFrom: number;
  /** In force at `since`. */
  readonly first: number;
  /** In force at `to`. */
  readonly last: number;
  /** Why nothing is known before `since`; undefined where all is. */
  readonly gap: 'NO_SNAPSHOT' | 'SNAPSHOT_GAP' | undefined;
}

/** Instants outside of these years are a slip of the keyboard. */
const EARLIEST = parseInstant('2000-01-01T00:00:00Z');

const instantSchema = instantText('');

/**
 * The range between two instants; without `to`, or with one that is to come, up to now.
 *
 * @param asked `mayPrecede`: a range that ends before history begins has nothing in it, and is not refused
 * @param pointer where the two stand in what was sent (RFC 6901)
 * @throws MeshError `invalid_input` for a range that is reversed, begins in the future or before all time; `not_found` or
 * `expired` where nothing of it is known
 */
export async function rangeOf(
  { store, clock }: Pick<NetworkServices, 'store' | 'clock'>,
  workspace: string,
  asked: { readonly from: string; readonly to?: string | undefined; readonly mayPrecede?: boolean },
  pointer = '',
): Promise<Range> {
  const now = clock.now();
  const from = instantOf(asked.from, `${pointer}/from`);
  if (from > now) throw refused(`${pointer}/from`, 'This lies in the future: ask about instants up to now.');
  const end = asked.to === undefined ? now : instantOf(asked.to, `${pointer}/to`);
  const to = Math.min(end, now);
  if (to < from) throw refused(`${pointer}/to`, `The range ends before it begins: swap ${asked.from} and ${asked.to}.`);
  const kept = await store.keptFrom(workspace);
  if (kept && kept.at > to && kept.revision === 1) {
    if (asked.mayPrecede !== true) throw await beforeHistory({ store }, workspace, kept.at);
    const { at: keptFrom, revision } = kept;
    return { from, to, since: to, keptFrom, first: revision, last: revision, gap: 'NO_SNAPSHOT' };
  }
  if (!kept || kept.at > to) throw nothingKnown(kept, to);
  const since = Math.max(from, kept.at);
  const first = from >= kept.at ? await revisionAt(store, workspace, since) : undefined;
  return {
    from,
    to,
    ...(end > now && { cutFrom: end }),
    since,
    keptFrom: kept.at,
    // Several revisions may have come into force in one instant: history begins with the first of them.
    first: Math.max(first ?? kept.revision, kept.revision),
    last: Math.max((await revisionAt(store, workspace, to)) ?? kept.revision, kept.revision),
    gap: from >= kept.at ? undefined : kept.revision > 1 ? 'SNAPSHOT_GAP' : 'NO_SNAPSHOT',
  };
}

/** Returns true where a range ends before history begins. */
export function precedesHistory({ to, keptFrom }: Range): boolean {
  return to < keptFrom;
}

/** Where a range is cut, and why: it begins before history, or ends later than now. */
export async function rangeNote(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  range: Range,
): Promise<string | undefined> {
  const cut = cutText(range);
  const notes = [
    ...(range.gap === 'NO_SNAPSHOT' ? [await beginningText(services, workspace, range.keptFrom)] : []),
    ...(cut === undefined ? [] : [`Of the range: ${cut}.`]),
  ];
  return notes.length === 0 ? undefined : notes.join(' ');
}

/** Why a range does not end where it was asked to. */
export function cutText({ cutFrom }: Range): string | undefined {
  return cutFrom === undefined ? undefined : `it ends now, as ${formatInstant(cutFrom)} lies in the future`;
}

function instantOf(text: string, pointer: string): number {
  if (!instantSchema.safeParse(text).success) throw refused(pointer, 'Write an instant as 2026-01-31T12:00:00Z.');
  const instant = parseInstant(text);
  if (instant < EARLIEST) throw refused(pointer, 'This lies before all history: ask about an instant of this century.');
  return instant;
}

function refused(pointer: string, detail: string): MeshError {
  return invalidInput([{ pointer, detail }], `${pointer}: ${detail}`);
}

function nothingKnown(kept: { readonly revision: number; readonly at: number } | undefined, to: number): MeshError {
  const until = formatInstant(to);
  if (!kept) return new MeshError('not_found', `${until} is before the history of this workspace.`);
  const since = formatInstant(kept.at);
  return new MeshError('expired', `What was until ${until} is no longer kept: history is kept since ${since}.`);
}

async function revisionAt(store: NetworkServices['store'], workspace: string, at: number): Promise<number | undefined> {
  return (await store.revisionAt(workspace, at))?.revision;
}
