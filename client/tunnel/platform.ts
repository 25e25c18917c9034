import { MeshError } from '../../core/base/errors.ts';
import { macTunnels } from './darwin.ts';
import { linuxTunnels } from './linux.ts';
import type { TunnelPlatform } from './tunnel.ts';

/** The tunnels of an operating system, by Node's name for it. @throws MeshError that says where nodes run */
export function tunnelPlatform(platform: NodeJS.Platform): TunnelPlatform {
  if (platform === 'linux') return linuxTunnels;
  if (platform === 'darwin') return macTunnels();
  throw new MeshError('unavailable', `A node cannot run on ${platform}: run it on Linux or macOS.`);
}

/** The name of the interface unless the user gives another. macOS numbers its tunnels; this one is seldom taken. */
export function defaultInterface(platform: NodeJS.Platform): string {
  return platform === 'darwin' ? 'utun96' : 'mesh0';
}
