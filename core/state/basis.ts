import type { Basis } from '../base/ports.ts';
import type { Kind } from '../base/record.ts';
import type { NetworkState } from './state.ts';

/** What decides who reaches whom, and what must hold of it. Presence does not. */
const OF_NETWORK = ['MeshPeer', 'MeshPolicy', 'MeshNetwork', 'AgentIdentity', 'PolicyAssertion'] as const;

/** All that decides who reaches whom now, as a state shows it. */
export function networkBasis(state: NetworkState): Basis {
  return basisOn(state, OF_NETWORK);
}

/** All that decides who reaches whom now and later, as a judgement of a state was made on it. */
export function basisOf(state: NetworkState): Basis {
  return basisOn(state, [...OF_NETWORK, 'Token']);
}

export function basisOn({ revision }: Pick<NetworkState, 'revision'>, kinds: readonly Kind[]): Basis {
  return { kinds, revision };
}

/** What was concluded from the one and from the other. */
export function together(one: Basis, other: Basis | undefined): Basis;
export function together(one: Basis | undefined, other: Basis | undefined): Basis | undefined;
export function together(one: Basis | undefined, other: Basis | undefined): Basis | undefined {
  if (!one || !other) return one ?? other;
  const kinds = [...new Set([...one.kinds, ...other.kinds])];
  return { kinds, revision: Math.min(one.revision, other.revision) };
}
