import type { PeerEntry } from '../../../core/model/policy.ts';
import { sameValue } from '../../../core/model/value.ts';
import type { NetworkState } from '../../../core/state/state.ts';
import { namesOf, subjectsOf } from '../names.ts';
import type { Subject } from '../subject.ts';

/** One side of what is asked for, as policies may mean it. */
export interface Side {
  readonly names: ReadonlySet<string>;
  readonly entries: readonly PeerEntry[];
}

export function sideOf(subjects: readonly Subject[]): Side {
  return {
    names: new Set(subjects.flatMap(({ peers }) => peers.map(({ name }) => name))),
    entries: subjects.flatMap(({ entries }) => entries),
  };
}

/** Whether an entry of a rule means some of a side. Blocks of addresses are compared with blocks only where they are the same. */
export function meansSome(entry: PeerEntry, { names, entries }: Side, state: NetworkState): boolean {
  if (entry === '*') return true;
  const { peerSelector } = entry;
  if (peerSelector === undefined) return entries.some((own) => sameValue(own, entry));
  return subjectsOf({ peerSelector }, namesOf(state)).some(({ name }) => names.has(name));
}
