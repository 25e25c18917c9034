import { runProgram } from '../../run-program.ts';
import { darwinResolver } from './darwin.ts';
import { networkManager } from './network-manager.ts';
import { openresolv } from './openresolv.ts';
import { resolvConf } from './resolv-conf.ts';
import type { HostResolver } from './resolver.ts';
import { systemdResolved } from './systemd-resolved.ts';

/**
 * Returns the ways of this platform, the one to prefer first.
 *
 * @param writesResolvConf where there is no other way
 */
export function hostResolvers(platform: NodeJS.Platform, writesResolvConf = false): readonly HostResolver[] {
  if (platform === 'darwin') return [darwinResolver()];
  return [
    systemdResolved(runProgram),
    networkManager(runProgram),
    openresolv(runProgram),
    resolvConf(writesResolvConf),
  ];
}
