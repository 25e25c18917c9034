import { getOrInsertComputed } from '../../base/get-or-insert.ts';
import { memoize } from '../../base/memoize.ts';
import { nearest } from '../../base/nearest.ts';
import { foldName } from '../../base/record.ts';
import { type IpRange, overlaps, parseAddress, parseCidr } from '../../model/cidr.ts';
import { lookUp, lookUpById } from '../../model/find.ts';
import { readsAsPeerId } from '../../model/peer-lists.ts';
import type { PeerEntry, Selector } from '../../model/policy.ts';
import { cidrsOf, EVERY_ADDRESS, type Ranges, union, without } from '../../model/ranges.ts';
import type { PeerRecord } from '../../model/resources.ts';
import { selects } from '../../model/selector.ts';
import { indexOfNames, nearestOf } from '../../model/with-nearest.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Ends } from '../../state/terms.ts';
import { both, minus } from './selectors.ts';

type Network = Pick<NetworkState, 'peers' | 'networks'>;

/** Peers of one network, or of every network where none is named. */
export interface Group {
  readonly selector: Selector;
  readonly network?: string;
}

/** An end of an order. */
export interface Side {
  readonly groups: readonly Group[];
  /** Addresses that are no peer's. */
  readonly ranges: Ranges;
}

const PEERS = 'peers';
const OUTSIDE = 'outside';
const ANYONE = 'anyone';
const KEYWORDS: ReadonlySet<string> = new Set([PEERS, OUTSIDE, ANYONE]);
const MAX_OFFERED_VALUES = 5;
const LABEL = /^([^!=]+)(!?)=(.*)$/;

/** Returns the addresses that networks give to peers. */
export function insideOf({ networks }: Pick<NetworkState, 'networks'>): Ranges {
  return union([...networks.values()].flatMap(({ spec }) => parseCidr(spec.cidr) ?? []));
}

/** A word that can be kept, with ids in place of names; else why it means nobody, with names that may have been meant. */
export type ReadWord =
  | { readonly word: string; readonly shown: string }
  | { readonly fault: string; readonly offered?: string };

/** Reads a word for one end of an order. A name that is also a keyword means the keyword. */
export function readWord(word: string, state: Network): ReadWord {
  if (KEYWORDS.has(word)) return { word, shown: word };
  const fault = word.includes('=') ? labelFault(word, state) : undefined;
  if (fault) return fault;
  if (word.includes('=')) return { word, shown: word };
  const range = parseCidr(word) ?? parseAddress(word);
  const peer = peerOf(word, state);
  if (peer) return { word: peer.uid, shown: shownPeer(peer) };
  if (range) {
    const within = [...state.networks.values()].filter(({ spec }) => isWithin(spec.cidr, range));
    if (within.length === 0) return { word, shown: word };
    if (!word.includes('/')) return { fault: `No peer has the address ${word}.` };
    const [{ name = '', spec = { cidr: '' } } = {}] = within;
    return {
      fault: `${word} holds addresses of the network ${name} (${spec.cidr}): write network=${name} for its peers, and outside or a CIDR without them for other addresses.`,
    };
  }
  if (word.includes('*') || word.startsWith('!'))
    return {
      fault: `${JSON.stringify(word)} is no name. Write peers, outside or anyone; leave some out with except_from and except_to.`,
    };
  const near = nearestOf(word, indexOfNames(state.peers)).map((name) => JSON.stringify(name));
  const what = `There is no peer ${JSON.stringify(word)}.`;
  const fix = `${what} Write a name, an id, an address, label=value, network=NAME, peers, outside or anyone.`;
  return { fault: fix, ...(near.length > 0 && { offered: `${what} Did you mean ${near.join(' or ')}?` }) };
}

/** Words that join the parts of an order in its text. */
const JOINTS: ReadonlySet<string> = new Set(['to', 'except', 'on', 'through', 'beginning', 'until', 'and']);

/** Returns a peer's name; with its id where it reads as another word of an order. Devices choose their names. */
function shownPeer({ name, uid }: PeerRecord): string {
  const folded = foldName(name);
  const isWord = KEYWORDS.has(folded) || JOINTS.has(folded) || name.includes('=') || readsAsPeerId(folded);
  return isWord || parseCidr(name) || parseAddress(name) ? `peer ${JSON.stringify(name)} (${uid})` : name;
}

function isWithin(cidr: string, range: IpRange): boolean {
  const own = parseCidr(cidr);
  return own !== undefined && overlaps(own, range);
}

function peerOf(word: string, { peers }: Network): PeerRecord | undefined {
  const found = lookUp(peers, word);
  if (found) return found;
  const address = parseAddress(word);
  if (!address) return undefined;
  return [...peers.values()].find(({ status }) => {
    const own = status.address === null ? undefined : parseAddress(status.address);
    return own !== undefined && overlaps(own, address);
  });
}

/** Values of each label, worked out once for a state. */
const labelsOf = memoize((peers: Network['peers']) => {
  const known = new Map<string, Set<string>>();
  for (const { labels } of peers.values()) {
    for (const [key, value] of Object.entries(labels))
      getOrInsertComputed(known, key, () => new Set<string>()).add(value);
  }
  return known;
});

/** A label that no peer has is more often misspelt than meant for later. */
function labelFault(word: string, { peers, networks }: Network): Extract<ReadWord, { fault: string }> | undefined {
  const given = new Map<string, string>();
  for (const part of word.split(',')) {
    const [, key = '', not, value = ''] = LABEL.exec(part) ?? [];
    if (key === '' || value === '')
      return { fault: `${JSON.stringify(part)} is no label: write label=value or label!=value, apart by commas.` };
    if (not === '' && given.has(key) && given.get(key) !== value)
      return { fault: `${word} is nobody, since a peer has one ${key}: write two words for either.` };
    if (not === '') given.set(key, value);
    if (key === 'network' && not === '') {
      if (networks.has(value)) continue;
      const near = nearest(foldName(value), networks.keys());
      return {
        fault: `There is no network ${JSON.stringify(value)}.`,
        ...offer(`There is no network ${JSON.stringify(value)}.`, near),
      };
    }
    const known = labelsOf(peers);
    const values = known.get(key);
    if (!values) {
      const what = `No peer has a label ${JSON.stringify(key)}.`;
      return { fault: what, ...offer(what, nearest(key.toLowerCase(), known.keys())) };
    }
    if (not === '!') continue;
    if (values.has(value)) continue;
    const what = `No peer has the label ${key}=${value}.`;
    const near = nearest(value.toLowerCase(), values);
    return {
      fault: what,
      ...offer(
        what,
        (near.length > 0 ? near : [...values].sort().slice(0, MAX_OFFERED_VALUES)).map((one) => `${key}=${one}`),
      ),
    };
  }
  return undefined;
}

function offer(what: string, near: readonly string[]): { offered?: string } {
  return near.length === 0 ? {} : { offered: `${what} Did you mean ${near.join(' or ')}?` };
}

/** Returns the end that kept words mean. A peer that is gone is nobody. */
export function sideOf(words: readonly string[], except: readonly string[], state: Network): Side {
  const [named, left] = [words.map((word) => meaningOf(word)), except.map((word) => meaningOf(word))];
  const inside = insideOf(state);
  const ranges = without(union(named.flatMap((one) => one.ranges)), inside);
  const gone = left.flatMap(({ groups }) => groups);
  return {
    groups: merged(named.flatMap(({ groups }) => groups).flatMap((group) => groupsLeft(group, gone))),
    ranges: without(ranges, union(left.flatMap((one) => one.ranges))),
  };
}

/** Returns true if an exception names a network that its end does not. */
export function leavesOutNetwork({ groups }: Side, left: Side): boolean {
  return left.groups.some(({ network }) => network !== undefined && groups.some((one) => one.network === undefined));
}

function groupsLeft(group: Group, gone: readonly Group[]): Group[] {
  const those = gone.filter(({ network }) => network === undefined || network === group.network);
  const network = group.network === undefined ? {} : { network: group.network };
  return minus(
    group.selector,
    those.map(({ selector }) => selector),
  ).map((selector) => ({ selector, ...network }));
}

function meaningOf(word: string): Side {
  if (word === PEERS) return { groups: [{ selector: {} }], ranges: [] };
  if (word === OUTSIDE) return { groups: [], ranges: EVERY_ADDRESS };
  if (word === ANYONE) return { groups: [{ selector: {} }], ranges: EVERY_ADDRESS };
  if (word.includes('=')) return { groups: [labelGroup(word)], ranges: [] };
  const range = readsAsPeerId(word) ? undefined : (parseCidr(word) ?? parseAddress(word));
  return range ? { groups: [], ranges: [range] } : { groups: [{ selector: { peers: [word] } }], ranges: [] };
}

/** Returns true if a kept word means addresses that are no peer's. */
export function meansOutside(word: string): boolean {
  return meaningOf(word).ranges.length > 0;
}

function labelGroup(word: string): Group {
  let selector: Selector = {};
  let network: string | undefined;
  for (const part of word.split(',')) {
    const [, key = '', not, value = ''] = LABEL.exec(part) ?? [];
    if (key === 'network' && not === '') network = value;
    else {
      const one: Selector =
        not === '!'
          ? { matchExpressions: [{ key, operator: 'NotIn', values: [value] }] }
          : { matchLabels: { [key]: value } };
      selector = both(selector, one) ?? { peers: [] };
    }
  }
  return { selector, ...(network !== undefined && { network }) };
}

/** Lists of peers become one list; equal groups one group. */
export function merged(groups: readonly Group[]): Group[] {
  const lists = new Map<string, Group>();
  for (const group of groups) {
    const { selector, network = '' } = group;
    const isList = selector.peers !== undefined && Object.keys(selector).length === 1;
    const key = isList ? `list ${network}` : `${JSON.stringify(selector)} ${network}`;
    const known = lists.get(key);
    if (!known) lists.set(key, group);
    else if (isList) {
      const peers = [...new Set([...(known.selector.peers ?? []), ...(selector.peers ?? [])])];
      lists.set(key, { ...group, selector: { peers } });
    }
  }
  return [...lists.values()];
}

/** Returns the peers, ready or not, that a group means now. */
export function membersOf({ selector, network }: Group, { peers }: Pick<NetworkState, 'peers'>): PeerRecord[] {
  const listed = selector.peers?.flatMap((id) => lookUpById(peers, id) ?? []);
  return [...(listed ?? peers.values())].filter(
    (peer) => (network === undefined || peer.spec.network === network) && selects(selector, peer),
  );
}

/** Returns the peers and addresses that an end means now. */
export function endsOfSide({ groups, ranges }: Side, state: Pick<NetworkState, 'peers'>): Ends {
  const names = new Set(groups.flatMap((group) => membersOf(group, state).map(({ name }) => name)));
  return { peers: [...names], ranges };
}

/** Returns true if an end means every peer and every address outside. */
export function isAnyone({ groups, ranges }: Side, state: Network): boolean {
  const isEveryPeer = groups.some(
    ({ selector, network }) => network === undefined && Object.keys(selector).length === 0,
  );
  return isEveryPeer && without(without(EVERY_ADDRESS, insideOf(state)), ranges).length === 0;
}

/** Returns the entries of a rule that match an end; none for anyone. */
export function entriesOf(side: Side, state: Network): PeerEntry[] {
  if (isAnyone(side, state)) return [];
  return [...side.groups.map(({ selector }) => ({ peerSelector: selector })), ...blocksOf(side.ranges)];
}

/** The shorter of two forms: some blocks, or everything with blocks left out. */
function blocksOf(ranges: Ranges): PeerEntry[] {
  return ([4, 6] as const).flatMap((family): PeerEntry[] => {
    const own = ranges.filter((range) => range.family === family);
    if (own.length === 0) return [];
    const every = EVERY_ADDRESS.filter((range) => range.family === family);
    const [blocks, holes] = [cidrsOf(own), cidrsOf(without(every, own))];
    if (blocks.length <= holes.length + 1) return blocks.map((cidr) => ({ ipBlock: { cidr } }));
    const [cidr = ''] = cidrsOf(every);
    return [{ ipBlock: { cidr, except: holes } }];
  });
}
