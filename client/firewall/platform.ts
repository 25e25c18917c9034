import { MeshError } from '../../core/base/errors.ts';
import { runIn, runProgram } from '../run-program.ts';
import type { Firewall } from './firewall.ts';
import { nftablesFirewall } from './nftables.ts';
import { pfFirewall } from './pf.ts';

/** The firewall of an interface, by Node's name for the operating system. @throws MeshError that says where nodes run */
export function platformFirewall(platform: NodeJS.Platform, interfaceName: string, namespace?: string): Firewall {
  const run = namespace === undefined ? runProgram : runIn(namespace);
  if (platform === 'linux') return nftablesFirewall(interfaceName, { run });
  if (platform === 'darwin') return pfFirewall(interfaceName);
  throw new MeshError('unavailable', `A node cannot run on ${platform}: run it on Linux or macOS.`);
}
