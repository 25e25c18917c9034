import type { ReadSet } from '../base/ports.ts';
import type { RecordGroup } from '../base/record.ts';
import { tokenName } from '../model/token-record.ts';
import type { NetworkState } from './state.ts';

/** Kinds that decide who reaches whom, and the assertions about it. Presence does not. */
const OF_NETWORK = ['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity', 'PolicyAssertion'] as const;

/**
 * Join tokens, whose labels and network devices get that join later. Device tokens are left out: a device renews its own as
 * often as it likes, and no judgment rests on that.
 */
const JOIN_TOKENS: RecordGroup = `Token/${tokenName('join', '')}`;

/** All that decides who reaches whom now, as a state shows it. */
export function networkReadSet(state: NetworkState): ReadSet {
  return readSetOn(state, OF_NETWORK);
}

/** All that decides who reaches whom now and later, as a judgement of a state was made on it. */
export function readSetOf(state: NetworkState): ReadSet {
  return readSetOn(state, [...OF_NETWORK, JOIN_TOKENS]);
}

export function readSetOn({ revision }: Pick<NetworkState, 'revision'>, groups: readonly RecordGroup[]): ReadSet {
  return { groups, revision };
}

/** Returns the union of two read sets, at the older revision. */
export function mergeReadSets(one: ReadSet, other: ReadSet | undefined): ReadSet;
export function mergeReadSets(one: ReadSet | undefined, other: ReadSet | undefined): ReadSet | undefined;
export function mergeReadSets(one: ReadSet | undefined, other: ReadSet | undefined): ReadSet | undefined {
  if (!one || !other) return one ?? other;
  const groups = [...new Set([...one.groups, ...other.groups])];
  return { groups, revision: Math.min(one.revision, other.revision) };
}
