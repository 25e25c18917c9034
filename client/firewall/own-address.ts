import { type IpRange, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import type { GraphSelf } from '../../core/model/graph.ts';
import { placesOf } from '../places.ts';

/**
 * This node's address in its overlay, and the block that is routed into the overlay interface; and those before, while its network
 * is being renumbered.
 */
export type OwnAddress = Pick<GraphSelf, 'address' | 'cidr' | 'former'>;

/** @throws Error when an address is none or not of its block's family, or of another one than the first: rules would name nothing */
export function parseOwnAddress(own: OwnAddress): {
  readonly family: IpRange['family'];
  readonly hosts: readonly IpRange[];
  readonly blocks: readonly IpRange[];
} {
  const parsed = placesOf(own).map(({ address, cidr }) => {
    const [host, block] = [parseAddress(address), parseCidr(cidr)];
    if (!host || block?.family !== host.family) throw new Error(`${address} is no address of the overlay ${cidr}.`);
    return { host, block };
  });
  const family = parsed[0]?.host.family ?? 4;
  if (parsed.some(({ host }) => host.family !== family))
    throw new Error('The addresses of the overlay have two families.');
  return { family, hosts: parsed.map(({ host }) => host), blocks: parsed.map(({ block }) => block) };
}
