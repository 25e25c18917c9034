import { parseCidr } from '../model/cidr.ts';
import { meansAnyone } from '../model/meaning.ts';
import type { PeerEntry, Rule } from '../model/policy.ts';
import { type Ranges, sizeOf, union, without } from '../model/ranges.ts';
import { selectsEveryone } from '../model/selector.ts';

/** Addresses that only a local network or a provider routes (RFC 1918, 6598, 3927, 1122, 4193, 4291). */
const PRIVATE = union(
  [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    '169.254.0.0/16',
    '127.0.0.0/8',
    'fc00::/7',
    'fe80::/10',
  ].flatMap((text) => parseCidr(text) ?? []),
);
/** Public addresses from which on a range is anyone: an IPv4 /8 or an IPv6 /20 is the most that one organisation has. */
const ANYONE = { 4: 2n ** 24n, 6: 2n ** 108n } as const;

/** Whether the other end of a rule is anyone: `*`, nobody named, every peer, or addresses of everybody. */
export function isFromAnyone({ peers }: Pick<Rule, 'peers'>): boolean {
  if (meansAnyone(peers)) return true;
  if (peers.some((entry) => entry !== '*' && entry.peerSelector && selectsEveryone(entry.peerSelector))) return true;
  const open = without(rangesOf(peers), PRIVATE);
  return ([4, 6] as const).some((f) => sizeOf(open.filter(({ family }) => family === f)) >= ANYONE[f]);
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
