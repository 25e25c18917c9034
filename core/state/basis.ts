import type { Basis } from '../base/ports.ts';
import type { RecordGroup } from '../base/record.ts';
import { tokenName } from '../model/token-record.ts';
import type { NetworkState } from './state.ts';

/** What decides who reaches whom, and what must hold of it. Presence does not. */
const OF_NETWORK = ['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity', 'PolicyAssertion'] as const;

/** What devices get that join later. A device renews its own token as often as it likes, and nobody is judged by that. */
const JOIN_TOKENS: RecordGroup = `Token/${tokenName('join', '')}`;

/** All that decides who reaches whom now, as a state shows it. */
export function networkBasis(state: NetworkState): Basis {
  return basisOn(state, OF_NETWORK);
}

/** All that decides who reaches whom now and later, as a judgement of a state was made on it. */
export function basisOf(state: NetworkState): Basis {
  return basisOn(state, [...OF_NETWORK, JOIN_TOKENS]);
}

export function basisOn({ revision }: Pick<NetworkState, 'revision'>, groups: readonly RecordGroup[]): Basis {
  return { groups, revision };
}

/** What was concluded from the one and from the other. */
export function together(one: Basis, other: Basis | undefined): Basis;
export function together(one: Basis | undefined, other: Basis | undefined): Basis | undefined;
export function together(one: Basis | undefined, other: Basis | undefined): Basis | undefined {
  if (!one || !other) return one ?? other;
  const groups = [...new Set([...one.groups, ...other.groups])];
  return { groups, revision: Math.min(one.revision, other.revision) };
}
