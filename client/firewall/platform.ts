import { MeshError } from '../../core/base/errors.ts';
import { runProgram } from '../run-program.ts';
import type { Firewall } from './firewall.ts';
import { guardOf } from './guard.ts';
import { type HostRules, linuxHostRules, NO_HOST_RULES } from './host/host-rules.ts';
import { openedRecord } from './host/opened.ts';
import { nftablesFirewall } from './nftables.ts';
import { pfFirewall } from './pf.ts';

/** The host's own firewall, by Node's name for the operating system. */
export function platformHostRules(
  platform: NodeJS.Platform,
  interfaceName: string,
  /** Where the node keeps its configuration, and what it changed of the host. */
  directory: string,
): HostRules {
  if (platform !== 'linux') return NO_HOST_RULES;
  return linuxHostRules(interfaceName, openedRecord(directory), runProgram);
}

/** The firewall of an interface, by Node's name for the operating system. @throws MeshError that says where nodes run */
export function platformFirewall(platform: NodeJS.Platform, interfaceName: string): Firewall {
  if (platform === 'linux') return nftablesFirewall(interfaceName, { guard: guardOf(interfaceName, runProgram) });
  if (platform === 'darwin') return pfFirewall(interfaceName);
  throw new MeshError('unavailable', `A node cannot run on ${platform}: run it on Linux or macOS.`);
}
