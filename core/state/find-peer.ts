import type { MeshError } from '../base/errors.ts';
import { memoize } from '../base/memoize.ts';
import { foldName } from '../base/record.ts';
import { overlaps, parseAddress, parseCidr } from '../model/cidr.ts';
import { lookUp, notFoundAmong, quoted } from '../model/find.ts';
import { OUTSIDE_WORDS, readsAsAddress } from '../model/peer-name.ts';
import { EVERY_ADDRESS, OUTSIDE, type Ranges, rangesOfTerm } from '../model/ranges.ts';
import type { PeerRecord } from '../model/resources.ts';
import { indexOfNames, nearestOf, notFound } from '../model/with-nearest.ts';
import type { NetworkState } from './state.ts';
import { namesOf } from './terms.ts';

type Peers = Pick<NetworkState, 'peers'>;

/**
 * The peer that is meant where one peer is asked for: by id, name in any case, or overlay address.
 *
 * @throws MeshError `not_found` with the nearest names
 */
export function findPeer(state: Peers, given: string): PeerRecord {
  const peer = lookUpPeer(state, given);
  if (peer) return peer;
  throw peerNotFound(state, given);
}

/** By id, name or overlay address. */
export function lookUpPeer({ peers }: Peers, given: string): PeerRecord | undefined {
  return lookUp(peers, given) ?? byAddress(peers).get(addressKey(given) ?? '');
}

/**
 * As {@link lookUpPeer}, and by a host name that one peer alone has. For reading: a device says its host name itself, so no
 * change goes by it.
 */
export function lookUpPeerOrHost(state: Peers, given: string): PeerRecord | undefined {
  const found = lookUpPeer(state, given);
  if (found) return found;
  const [only, ...others] = byHost(state.peers).get(foldName(given)) ?? [];
  return others.length === 0 ? only : undefined;
}

/** Returns true if a text selects peers by their labels, or all with `*`, and cannot name a single one. */
export function isGroupTerm(given: string): boolean {
  return given === '*' || /[=!,]/.test(given);
}

/** Why one peer is not found, with those that may have been meant. */
export function peerNotFound(state: Peers, given: string): MeshError {
  if (isGroupTerm(given)) {
    return notFound(`${quoted(given)} selects peers by label, and one peer is needed here.`, namesOf(given, state));
  }
  const hosts = byHost(state.peers).get(foldName(given)) ?? [];
  if (hosts.length > 0) {
    const names = hosts.map(({ name }) => name).sort();
    return notFound(`${quoted(given)} is the host name of a peer and not its name.`, names);
  }
  const near = nearestOf(given, indexOfNames(state.peers));
  if (near.length === 0 && (parseCidr(given) || parseAddress(given))) return notFound(noPeerHas(given), []);
  if ([ANY, ...OUTSIDE_WORDS].includes(foldName(given)))
    return notFound(`${quoted(given)} is no peer. ${ASK_OUTSIDE}`, []);
  return notFoundAmong(state.peers, 'peer', given);
}

function noPeerHas(address: string): string {
  const isRange = address.includes('/');
  const what = isRange ? `${address} is a range, and one peer is needed here.` : `No peer has the address ${address}.`;
  return `${what} ${ASK_OUTSIDE}`;
}

/** It may mean peers as well as what is outside: who says it is told what to ask. */
const ANY = 'any';
const ASK_OUTSIDE =
  'For addresses outside, ask check_connectivity: one end may be outside, or an address or CIDR outside of all networks, and with one end left out its groups name the ranges that policies tell apart. What a change does to them is in the effect of its plan.';

/**
 * The addresses outside of all networks that a text means: `outside` or a word for it, an address or a CIDR. Undefined
 * where it means none, and for a CIDR that has addresses of a network in it.
 */
export function outsideOf({ networks }: Pick<NetworkState, 'networks'>, given: string): Ranges | undefined {
  if (OUTSIDE_WORDS.has(foldName(given))) return EVERY_ADDRESS;
  const ranges = rangesOfTerm(given);
  if (ranges === undefined || given.startsWith(OUTSIDE)) return ranges;
  const inside = [...networks.values()].flatMap(({ spec }) => parseCidr(spec.cidr) ?? []);
  return inside.some((network) => ranges.some((range) => overlaps(network, range))) ? undefined : ranges;
}

function addressKey(text: string): string | undefined {
  const address = parseAddress(text);
  return address && `${address.family} ${address.from}`;
}

const byAddress = memoize(
  (peers: Peers['peers']) =>
    new Map(
      [...peers.values()].flatMap((peer): [string, PeerRecord][] => {
        const key = peer.status.address === null ? undefined : addressKey(peer.status.address);
        return key === undefined ? [] : [[key, peer]];
      }),
    ),
);

/**
 * A name that was not normalised is no host name: who uses it is told which name is meant. Nor is one that reads as an
 * address: no device says of itself that it is another, or what is outside.
 */
const byHost = memoize((peers: Peers['peers']) =>
  Map.groupBy(
    [...peers.values()].filter(({ spec }) => !/\s/.test(spec.hostname) && !readsAsAddress(spec.hostname)),
    ({ spec }) => foldName(spec.hostname),
  ),
);
