import { createHash } from 'node:crypto';

/**
 * Into how many shares workspaces fall, each led by one control plane. So many that ten planes differ by no more than one in
 * three, and so few that renewing all of them is some 25 small writes a second, however many workspaces and planes there are.
 * Two planes that count differently would both lead the same workspace: it can only be changed while none runs.
 */
export const SHARES = 32;

/** The share of a workspace: the same on every plane. */
export function shareOf(workspace: string): number {
  return createHash('sha256').update(workspace).digest().readUInt32BE() % SHARES;
}

/** The planes and the shares that they hold, as one plane reads them. */
export interface Holders {
  /** Planes that live, this one too. */
  readonly planes: readonly string[];
  /** By share; undefined for one that is free. */
  readonly shares: readonly (string | undefined)[];
}

/** The shares that a plane takes, and those that it gives to others. */
export interface ShareMoves {
  readonly take: readonly number[];
  readonly give: readonly number[];
}

/**
 * The moves of one plane towards an even spread, each of which leaves nobody with less than its part. With planes a b c and
 * 32 shares, a and b have 11 in the end and c has 10. When a ends, b and c each begin elsewhere in the list of what is free,
 * so that they seldom ask for the same.
 */
export function movesOf(self: string, { planes, shares }: Holders): ShareMoves {
  const inOrder = [...new Set(planes)].sort();
  const rank = inOrder.indexOf(self);
  if (rank < 0) return { take: [], give: sharesOf(self, shares) };
  const part = Math.floor(SHARES / inOrder.length) + (rank < SHARES % inOrder.length ? 1 : 0);
  const own = sharesOf(self, shares);
  if (own.length > part) return { take: [], give: own.slice(part) };
  const free = sharesOf(undefined, shares);
  const start = Math.floor((rank * free.length) / inOrder.length);
  return { take: [...free.slice(start), ...free.slice(0, start)].slice(0, part - own.length), give: [] };
}

function sharesOf(holder: string | undefined, shares: Holders['shares']): number[] {
  return shares.flatMap((each, share) => (each === holder ? [share] : []));
}
