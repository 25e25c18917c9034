import { grantsOf } from './grants.ts';
import type { PeerRecord } from './resources.ts';
import { sameValue } from './value.ts';

type Peer = Pick<PeerRecord, 'labels' | 'spec'>;

/** Returns true if two versions of a peer agree in all that decides who may reach it, and in all that people change of it. */
export function sameAccess(a: Peer, b: Peer): boolean {
  return sameValue(accessOf(a), accessOf(b));
}

function accessOf({ labels, spec }: Peer) {
  return grantsOf({ kind: 'MeshPeer', labels, spec });
}
