import { createHash } from 'node:crypto';
import type { RelayCosts } from '../../net/signal/relay-costs.ts';

/** Sums of round trips that differ by less count as the same: below it the load of relays matters more. */
const NEAR_MS = 10;
const HASH_BYTES = 6;

/**
 * The relays that both ends of a pair can use, the one to use first. It follows from what the two say of themselves alone, so
 * both find the same order whoever computes it.
 *
 * 1. the least sum of both round trips, in steps of 10 ms;
 * 2. of those that are as near, one drawn by the pair and the relay's name, as often as its capacity is large;
 * 3. the name.
 *
 * @param pair the same text at both ends (`pairOf`)
 * @param capacities of the relays that this end knows
 */
export function relaysOfPair(
  pair: string,
  capacities: ReadonlyMap<string, number>,
  one: RelayCosts,
  other: RelayCosts,
): string[] {
  const shared = [...capacities].flatMap(([name, capacity]) => {
    const [here, there] = [one.get(name), other.get(name)];
    if (here === undefined || there === undefined) return [];
    return [{ name, near: Math.floor((here + there) / NEAR_MS), draw: drawOf(pair, name) / capacity }];
  });
  shared.sort((a, b) => a.near - b.near || a.draw - b.draw || (a.name < b.name ? -1 : 1));
  return shared.map(({ name }) => name);
}

/** Names a pair of public keys in base64, whichever end asks. */
export function pairOf(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

/** The relays of one node alone, the nearest first. */
export function nearest(costs: RelayCosts): string[] {
  return [...costs].sort(([a, at], [b, bt]) => at - bt || (a < b ? -1 : 1)).map(([name]) => name);
}

/** Exponentially distributed: divided by their capacities, the least of several is each in proportion to its capacity. */
function drawOf(pair: string, name: string): number {
  const hash = createHash('sha256').update(`${pair} ${name}`).digest();
  return -Math.log((hash.readUIntBE(0, HASH_BYTES) + 1) / 2 ** (8 * HASH_BYTES));
}
