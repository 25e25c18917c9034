import { parseCidr } from '../model/cidr.ts';
import { meansAnyone } from '../model/meaning.ts';
import type { PeerEntry, Rule } from '../model/policy.ts';
import { MOST_OF_ONE, publicPartOf } from '../model/public-addresses.ts';
import { type Ranges, sizeOf, union, without } from '../model/ranges.ts';
import { selectsEveryone } from '../model/selector.ts';

/** Whether the other end of a rule is anyone: `*`, nobody named, every peer, or addresses of everybody. */
export function isFromAnyone({ peers }: Pick<Rule, 'peers'>): boolean {
  if (meansAnyone(peers)) return true;
  if (peers.some((entry) => entry !== '*' && entry.peerSelector && selectsEveryone(entry.peerSelector))) return true;
  const open = publicPartOf(rangesOf(peers));
  return ([4, 6] as const).some((f) => sizeOf(open.filter(({ family }) => family === f)) >= MOST_OF_ONE[f]);
}

/** The addresses that entries name; a hole that cannot be read leaves nothing of its block. */
export function rangesOf(peers: readonly PeerEntry[]): Ranges {
  return union(peers.flatMap(rangesOfEntry));
}

export function rangesOfEntry(entry: PeerEntry): Ranges {
  if (entry === '*' || !entry.ipBlock) return [];
  const block = parseCidr(entry.ipBlock.cidr);
  const holes = (entry.ipBlock.except ?? []).map(parseCidr);
  if (!block || holes.includes(undefined)) return [];
  return without([block], union(holes.flatMap((hole) => hole ?? [])));
}
