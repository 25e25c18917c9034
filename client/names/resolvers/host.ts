import { runProgram } from '../../run-program.ts';
import { darwinResolver } from './darwin.ts';
import { networkManager } from './network-manager.ts';
import { openresolv } from './openresolv.ts';
import type { HostResolver } from './resolver.ts';
import { systemdResolved } from './systemd-resolved.ts';

/** The ways of this platform, the one to prefer first. */
export function hostResolvers(platform: NodeJS.Platform): readonly HostResolver[] {
  if (platform === 'darwin') return [darwinResolver()];
  return [systemdResolved(runProgram), networkManager(runProgram), openresolv(runProgram)];
}
