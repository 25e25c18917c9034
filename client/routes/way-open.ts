import { overlaps, parseAddress, parseCidr } from '../../core/model/cidr.ts';

/**
 * Returns true if the way to a control plane that is away is open: something refused the connection to it. What refuses at an
 * address of the block that is routed may be this node itself, or a peer.
 */
export function isWayOpen(refusedBy: readonly string[], block: string): boolean {
  const routed = parseCidr(block);
  return refusedBy.some((text) => {
    const address = parseAddress(text);
    return routed !== undefined && address !== undefined && !overlaps(address, routed);
  });
}
