import { isLoopback } from '../../core/base/loopback.ts';
import { overlaps, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import type { PlaneAway } from '../enrol/plane-api.ts';

/**
 * Returns true if the way to a control plane that is away is open: its addresses refused the connection, so something is there.
 * A refusal from an address in the routed block proves nothing, since this node or a peer may have answered; nor does one from the
 * loopback, where a program of this host passes connections on. An address outside the block without a route is ignored: routing the
 * block removes no other route.
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
