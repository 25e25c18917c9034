import { type IpRange, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import type { GraphSelf } from '../../core/model/graph.ts';

/** This node's address in its overlay, and the block that is routed into the overlay interface. */
export type OwnAddress = Pick<GraphSelf, 'address' | 'cidr'>;

/** @throws Error when the address is none or not of the block's family: rules would name nothing */
export function parseOwnAddress({ address, cidr }: OwnAddress): { readonly host: IpRange; readonly block: IpRange } {
  const [host, block] = [parseAddress(address), parseCidr(cidr)];
  if (!host || block?.family !== host.family) throw new Error(`${address} is no address of the overlay ${cidr}.`);
  return { host, block };
}
