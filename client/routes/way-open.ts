import { isLoopback } from '../../core/base/loopback.ts';
import { overlaps, parseAddress, parseCidr } from '../../core/model/cidr.ts';
import type { PlaneAway } from '../enrol/plane-api.ts';

/**
 * Returns true if the way to a control plane that is away is open: each of its addresses refused the connection, so something is
 * there. What refuses at an address of the block that is routed may be this node itself, or a peer; at the loopback it is a
 * program of this host that passes connections on.
 */
export function isWayOpen(tries: PlaneAway['tries'], block: string): boolean {
  const routed = parseCidr(block);
  return (
    routed !== undefined &&
    tries.length > 0 &&
    tries.every(({ address = '', isRefused }) => {
      const range = parseAddress(address);
      return isRefused && range !== undefined && !overlaps(range, routed) && !isLoopback(address);
    })
  );
}
