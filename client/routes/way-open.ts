import { isLoopback } from '../../core/base/loopback.ts';
import { overlaps, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import type { PlaneAway } from '../enrol/plane-api.ts';

/**
 * Returns true if the way to a control plane that is away is open: its addresses refused the connection, so something is there.
 * What refuses at an address of the block that is routed may be this node itself, or a peer; at the loopback it is a program of this
 * host that passes connections on. An address that this host has no route to says nothing, unless it is of the block: a route that
 * came with the block takes no other one away.
 */
export function isWayOpen(tries: PlaneAway['tries'], block: string): boolean {
  const routed = parseCidr(block);
  if (routed === undefined) return false;
  const isOutside = (address = '') => {
    const range = parseAddress(address);
    return range !== undefined && !overlaps(range, routed) && !isLoopback(address);
  };
  const telling = tries.filter(({ address, why }) => why !== 'no-route' || !isOutside(address));
  return telling.length > 0 && telling.every(({ address, why }) => why === 'refused' && isOutside(address));
}
