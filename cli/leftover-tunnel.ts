import { lostNodeOf, nodesOf } from '../client/agent/node-traces.ts';
import { leaseOf } from '../client/firewall/nftables.ts';
import { hasInterface } from '../client/tunnel/has-interface.ts';

/** Returns a sentence on the tunnel that a killed agent left behind; undefined if there is none. Linux only. */
export async function leftoverTunnel(directory: string): Promise<string | undefined> {
  const lost = lostNodeOf(directory);
  const nodes = [...nodesOf(directory), ...(lost ? [lost] : [])];
  const name = nodes.find(({ interfaceName }) => hasInterface(interfaceName))?.interfaceName;
  if (name === undefined) return undefined;
  const states = {
    running: `Its agent was killed and left ${name}, which closes within a minute of that.`,
    ended: `Its agent was killed and left ${name}, which is closed by now: nothing passes it.`,
    gone: `Its agent was killed and left ${name}, whose firewall something else removed.`,
  };
  return states[await leaseOf(name)];
}
