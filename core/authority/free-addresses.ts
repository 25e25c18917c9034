import { type IpRange, overlaps, parseAddress, parseCidr } from '../model/cidr.ts';
import { allRulesOf } from '../model/policy-match.ts';
import { addressText } from '../model/ranges.ts';
import type { NetworkRecord, PeerRecord } from '../model/resources.ts';
import type { NetworkState } from '../state/state.ts';

/** Where each stretch of a network begins that blocks of policies tell apart; none where no block is in it. */
export function stretchesOf({ spec }: NetworkRecord, blocks: readonly IpRange[]): bigint[] {
  const whole = parseCidr(spec.cidr);
  const inside = blocks.filter((block) => whole && overlaps(whole, block));
  if (!whole || inside.length === 0) return [];
  const edges = inside.flatMap(({ from, to }) => [from, to + 1n]).filter((at) => at > whole.from && at <= whole.to);
  return [...new Set([whole.from, ...edges])].sort((a, b) => (a < b ? -1 : 1));
}

/** Returns one address of each stretch that no peer has; the network and the broadcast address name no host. */
export function freeAddresses(
  { spec }: NetworkRecord,
  stretches: readonly bigint[],
  states: readonly NetworkState[],
): string[] {
  const whole = parseCidr(spec.cidr);
  if (!whole || stretches.length === 0) return [];
  const taken = new Set(states.flatMap(({ peers }) => [...peers.values()].map(addressOf)));
  return stretches.flatMap((start, index) => {
    const end = stretches[index + 1] ?? whole.to + 1n;
    for (let at = start > whole.from ? start : whole.from + 1n; at < end && at < whole.to; at++)
      if (!taken.has(at)) return [addressText(whole.family, at)];
    return [];
  });
}

export function blocksOf({ policies }: NetworkState): IpRange[] {
  return [...policies.values()].flatMap(({ spec }) =>
    allRulesOf(spec).flatMap(({ peers }) =>
      peers.flatMap((entry) => {
        if (entry === '*' || !entry.ipBlock) return [];
        return [entry.ipBlock.cidr, ...(entry.ipBlock.except ?? [])].flatMap((text) => parseCidr(text) ?? []);
      }),
    ),
  );
}

function addressOf({ status }: PeerRecord): bigint | undefined {
  return status.address === null ? undefined : parseAddress(status.address)?.from;
}
