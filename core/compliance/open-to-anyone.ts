import { memoize } from '../base/memoize.ts';
import { parseCidr } from '../model/cidr.ts';
import type { PeerEntry, Rule } from '../model/policy.ts';
import { matchesAnyone } from '../model/policy-match.ts';
import { MOST_OF_ONE, publicPartOf } from '../model/public-addresses.ts';
import { isSubset, type Ranges, sizeOf, union, without } from '../model/ranges.ts';
import type { PeerRecord } from '../model/resources.ts';
import { selects } from '../model/selector.ts';
import { type OpenRanges, openToFuturePeers, outsideAccess } from '../reachability/outside-access.ts';
import { listed, named } from './check-result.ts';
import { type AllowRule, peersInScope, rulesAtScope, type View } from './view.ts';

type Direction = Rule['direction'];

/** A device that joins without labels and that no policy lists. */
const FUTURE_PEER = { uid: '', labels: {} };

/**
 * Returns true if a rule alone covers anyone: by `*`, an empty list, a selector of future peers, or the addresses of more than
 * one organization.
 */
export function isOfAnyone({ peers }: Pick<Rule, 'peers'>): boolean {
  return matchesAnyone(peers) || peers.some(matchesFuturePeers) || areWorldwide(rangesOf(peers));
}

/** Returns true if a selector matches devices that join without labels, as `{}` and purely negative selectors do. */
export function matchesFuturePeers(entry: PeerEntry): boolean {
  return entry === '*' || (entry.peerSelector !== undefined && selects(entry.peerSelector, FUTURE_PEER));
}

/** More addresses than one organisation has. */
function areWorldwide(ranges: Ranges): boolean {
  const open = publicPartOf(ranges);
  return ([4, 6] as const).some((f) => sizeOf(open.filter(({ family }) => family === f)) >= MOST_OF_ONE[f]);
}

/** The addresses that entries name; a hole that cannot be read leaves nothing of its block. */
export function rangesOf(peers: readonly PeerEntry[]): Ranges {
  return union(
    peers.flatMap((entry) => {
      if (entry === '*' || !entry.ipBlock) return [];
      const block = parseCidr(entry.ipBlock.cidr);
      const holes = (entry.ipBlock.except ?? []).map(parseCidr);
      if (!block || holes.includes(undefined)) return [];
      return without([block], union(holes.flatMap((hole) => hole ?? [])));
    }),
  );
}

type OutsideOf = (view: View) => ReadonlyMap<string, readonly OpenRanges[] | undefined>;

/** By the name of each peer in scope what addresses outside may open at it, or it at them; undefined for too many. */
export const outsideOf: Readonly<Record<Direction, OutsideOf>> = {
  ingress: memoize((view: View) => outsideIn(view, 'ingress')),
  egress: memoize((view: View) => outsideIn(view, 'egress')),
};

function outsideIn(view: View, direction: Direction): ReturnType<OutsideOf> {
  const access = outsideAccess(
    view.reach(),
    peersInScope(view).map(({ name }) => name),
    direction,
  );
  return new Map(access.flatMap(({ peers, open }) => peers.map((name) => [name, open] as const)));
}

/** The peers in scope at which addresses outside are open that the workspace does not list. */
export function openToUnlisted(view: View, direction: Direction): PeerRecord[] {
  const listed = union(view.sources.flatMap((text) => parseCidr(text) ?? []));
  const known = new Map<readonly OpenRanges[] | undefined, boolean>();
  const outside = outsideOf[direction](view);
  return peersInScope(view).filter(({ name }) => {
    const open = outside.get(name);
    let isOpen = known.get(open);
    if (isOpen === undefined) {
      isOpen =
        outside.has(name) && (open === undefined || !isSubset(union(open.flatMap(({ ranges }) => ranges)), listed));
      known.set(open, isOpen);
    }
    return isOpen;
  });
}

/** Peers in scope which ALLOW rules open to anyone, or let out to anyone, and the rules that do it together. */
export interface OpenToAnyone {
  readonly peers: readonly PeerRecord[];
  readonly rules: readonly AllowRule[];
}

/**
 * Returns the peers in scope that all ALLOW rules together open to anyone, minus what a DENY closes. Anyone means: addresses
 * outside of more than one organization, devices that join without labels, and `*` where it lets at least one connection
 * through.
 *
 * Example: ten policies each allow a block of a million public addresses. None of them alone covers anyone; together they allow
 * ten million addresses, so every rule is reported. A rule for all peers without the label `env` admits devices that join
 * without labels.
 */
export const openToAnyone: Readonly<Record<Direction, (view: View) => OpenToAnyone>> = {
  ingress: memoize((view: View) => anyoneIn(view, 'ingress')),
  egress: memoize((view: View) => anyoneIn(view, 'egress')),
};

function anyoneIn(view: View, direction: Direction): OpenToAnyone {
  const rules = rulesAtScope[direction](view).filter(({ rule }) => mayAdd(rule));
  // A peer that an ALLOW is about is isolated by it: what is open there is what rules open.
  const granted = new Set(rules.flatMap(({ subjects }) => subjects));
  if (granted.size === 0) return { peers: [], rules: [] };
  const outside = outsideOf[direction](view);
  const toNewcomers = new Set(
    openToFuturePeers(
      view.reach(),
      [...granted].map(({ name }) => name),
      direction,
    ),
  );
  const isOutside = memoize((open: readonly OpenRanges[]) => areWorldwide(union(open.flatMap(({ ranges }) => ranges))));
  const literal = new Set(rules.filter(({ rule }) => isOfAnyone(rule)).flatMap(({ subjects }) => subjects));
  const peers = [...granted].filter((peer) => {
    const open = outside.get(peer.name);
    if (toNewcomers.has(peer.name) || open === undefined || isOutside(open)) return true;
    return literal.has(peer) && isReached(view, peer, direction, open);
  });
  const found = new Set(peers);
  return { peers, rules: rules.filter(({ subjects }) => subjects.some((peer) => found.has(peer))) };
}

/** Returns true if a rule can contribute to opening a peer to anyone. */
function mayAdd({ peers }: Rule): boolean {
  return matchesAnyone(peers) || peers.some((entry) => matchesFuturePeers(entry) || (entry !== '*' && entry.ipBlock));
}

function isReached(view: View, { name }: PeerRecord, direction: Direction, open: readonly OpenRanges[]): boolean {
  if (open.length > 0) return true;
  const { inbound, outbound } = view.reach().neighbourhood(name);
  return (direction === 'ingress' ? inbound : outbound).length > 0;
}

/** The rules that open peers in scope to anyone, in words. */
export function anyoneFaults(view: View, direction: Direction): string[] {
  const { peers, rules } = openToAnyone[direction](view);
  if (peers.length === 0) return [];
  const what = direction === 'ingress' ? 'let anyone in to' : 'let out to anyone';
  return [`${rulesText(rules)} ${rules.length === 1 ? what.replace('let', 'lets') : what} ${named(peers)}`];
}

export function rulesText(rules: readonly AllowRule[]): string {
  return listed(rules.map(({ policy, index }) => `rule ${index} of ${named([policy])}`));
}
