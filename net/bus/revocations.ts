import { NODE_JWT_MS } from './claims.ts';

/** Public keys of users with the second up to which what they were given does not hold; `*` is everybody. */
export type Revocations = Readonly<Record<string, number>>;

/** As many fit into an account that has to fit into one message of 1 MiB. */
export const MAX_REVOCATIONS = 8_000;
/** Clocks of control planes may differ by as much. */
const SKEW_S = 60;
const LIFE_S = NODE_JWT_MS / 1_000;

/**
 * Returns the revocations for an account: its present ones and the users that lost their place, each with the second until
 * which any of its credentials is valid. Leaves out users that regained their place, and revocations that are over. Beyond the
 * limit the older half gives way to one entry for everybody: nodes that were admitted before then are admitted anew, except
 * those that lost their place.
 */
export function mergedRevocations(
  held: Revocations,
  lost: ReadonlyMap<string, number>,
  regained: ReadonlySet<string>,
  nowS: number,
): Revocations {
  const { '*': everybody = 0, ...single } = held;
  const all = new Map(
    [...lost, ...Object.entries(single)].filter(([key, until]) => until >= nowS && !regained.has(key)),
  );
  const byEnd = [...all].sort(([, a], [, b]) => a - b);
  const given = all.size > MAX_REVOCATIONS ? byEnd.splice(0, byEnd.length - MAX_REVOCATIONS / 2) : [];
  const lastGiven = given.at(-1)?.[1];
  const before = Math.max(everybody, lastGiven === undefined ? 0 : lastGiven - LIFE_S + SKEW_S);
  return { ...(before + LIFE_S >= nowS && { '*': before }), ...Object.fromEntries(byEnd) };
}

export function isSame(one: Revocations, two: Revocations): boolean {
  const [a, b] = [Object.entries(one), Object.entries(two)];
  return a.length === b.length && a.every(([key, until]) => two[key] === until);
}
