import { formatInstant, parseInstant } from '../base/time.ts';

/** A name that a peer had, and until when. */
export interface PeerRename {
  readonly from: string;
  readonly at: string;
}

/** Renames are shown for so long to who approves a change of the peer. */
export const RENAMES_SHOWN_MS = 30 * 24 * 3_600_000;
/** Renames kept with a peer, the newest. */
export const MAX_RENAMES = 10;

/** Returns the renames of the last 30 days, oldest first. */
export function recentRenames(renames: readonly PeerRename[] | undefined, now: number): PeerRename[] {
  return (renames ?? []).filter(({ at }) => parseInstant(at) > now - RENAMES_SHOWN_MS);
}

/** Returns the renames of a peer that is renamed now. */
export function withRename(renames: readonly PeerRename[] | undefined, from: string, now: number): PeerRename[] {
  return [...recentRenames(renames, now), { from, at: formatInstant(now) }].slice(-MAX_RENAMES);
}
