import { MeshError } from '../../core/base/errors.ts';
import { macTunnels } from './darwin.ts';
import { hostFacts } from './host-facts.ts';
import { linuxTunnels } from './linux.ts';
import { obstaclesOf } from './obstacles.ts';
import type { Obstacle, TunnelPlatform } from './tunnel.ts';

/** The tunnels of an operating system, by Node's name for it. @throws MeshError that says where nodes run */
export function tunnelPlatform(platform: NodeJS.Platform): TunnelPlatform {
  if (platform === 'linux') return linuxTunnels;
  if (platform === 'darwin') return macTunnels();
  throw new MeshError('unavailable', `A node cannot run on ${platform}: run it on Linux or macOS.`);
}

/** Returns what keeps a sandbox from running here; empty when nothing does. */
export async function sandboxObstacles(platform: NodeJS.Platform): Promise<readonly Obstacle[]> {
  if (platform === 'linux') return obstaclesOf(await hostFacts(), 'sandbox');
  return [{ missing: 'network namespaces, which Linux alone has', remedy: 'Run it on Linux, or in a container.' }];
}

/** The name of the interface unless the user gives another. macOS numbers its tunnels; this one is seldom taken. */
export function defaultInterface(platform: NodeJS.Platform): string {
  return platform === 'darwin' ? 'utun96' : 'mesh0';
}
