import type { GraphSelf } from '../core/model/graph.ts';

/** An overlay address of this node and the block that is routed with it. */
export interface Place {
  readonly address: string;
  readonly cidr: string;
}

/** Returns the places of this node, the present one first; a second one while its network is being renumbered. */
export function placesOf({ address, cidr, former }: Pick<GraphSelf, 'address' | 'cidr' | 'former'>): readonly Place[] {
  return [{ address, cidr }, ...(former ? [former] : [])];
}
