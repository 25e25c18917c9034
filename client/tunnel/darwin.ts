import { MeshError } from '../../core/base/errors.ts';
import type { Place } from '../places.ts';
import { runProgram } from '../run-program.ts';
import { type Device, type MovePlaces, tunnelOver } from './device.ts';
import { requireFreePort } from './free-port.ts';
import { askGeneration } from './generation.ts';
import { recoverWireGuardGo } from './left-wireguard-go.ts';
import { collidingMacRoutes } from './mac-routes.ts';
import { isRelevantOnMac, watchByProgram } from './network-watch.ts';
import { psProcesses } from './process-table.ts';
import type { Obstacle, TunnelOptions, TunnelPlatform } from './tunnel.ts';
import { wireGuardGoDevice } from './wireguard-go.ts';

export interface MacParts {
  readonly run: typeof runProgram;
  readonly userId: () => number;
  readonly startDevice: (interfaceName: string, ending?: AbortSignal) => Promise<Device>;
  readonly recoverDevice: (interfaceName: string) => Promise<void>;
}

const macParts: MacParts = {
  run: runProgram,
  userId: () => process.geteuid?.() ?? -1,
  startDevice: async (interfaceName, ending) =>
    wireGuardGoDevice(interfaceName, await askGeneration(), psProcesses(), ending),
  recoverDevice: (interfaceName) => recoverWireGuardGo(interfaceName, psProcesses()),
};

/**
 * wireguard-go on a `utun` interface. Never run on a Mac so far: its parts are tried with the output of the programs as
 * their manuals give it.
 */
export function macTunnels({ run, userId, startDevice, recoverDevice }: MacParts = macParts): TunnelPlatform {
  async function must(file: string, args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(file, args);
    if (code === 0) return stdout;
    throw new MeshError('unavailable', `${file} ${args.join(' ')} failed: ${stderr.trim()}`);
  }
  const addAddress = (interfaceName: string, address: string) =>
    must('ifconfig', [interfaceName, 'inet', `${address}/32`, address, 'alias']);
  const route = (verb: 'add' | 'delete', interfaceName: string, cidr: string) =>
    must('route', ['-q', '-n', verb, '-inet', cidr, '-interface', interfaceName]);

  const movePlaces: MovePlaces = async (interfaceName, from, to) => {
    const lacks = (places: readonly Place[], field: keyof Place) => (place: Place) =>
      !places.some((one) => one[field] === place[field]);
    for (const { address } of to.filter(lacks(from, 'address'))) await addAddress(interfaceName, address);
    for (const { cidr } of to.filter(lacks(from, 'cidr'))) await route('add', interfaceName, cidr);
    for (const { cidr } of from.filter(lacks(to, 'cidr'))) await route('delete', interfaceName, cidr);
    for (const { address } of from.filter(lacks(to, 'address'))) {
      await must('ifconfig', [interfaceName, 'inet', address, '-alias']);
    }
  };

  async function bringUp(device: Device, options: TunnelOptions): Promise<void> {
    const { interfaceName, privateKey, listenPort, address, cidr, mtu } = options;
    await device.set({ privateKey, listenPort });
    await addAddress(interfaceName, address);
    await must('ifconfig', [interfaceName, 'mtu', String(mtu), 'up']);
    await route('add', interfaceName, cidr);
  }

  return {
    async obstacles() {
      const obstacles: Obstacle[] = [];
      if (userId() !== 0) {
        obstacles.push({ missing: 'superuser rights', remedy: 'Run it as root, for example with sudo.' });
      }
      if ((await run('wireguard-go', ['--version'])).code !== 0) {
        obstacles.push({ missing: 'the program wireguard-go', remedy: 'Install it: brew install wireguard-go' });
      }
      return obstacles;
    },
    watchNetwork: (_interfaceName, log, onChange) =>
      watchByProgram(['route', '-n', 'monitor'], { log, isRelevant: isRelevantOnMac, onChange }),
    collisions: async (cidr, interfaceName) =>
      collidingMacRoutes(cidr, await must('netstat', ['-rn', '-f', 'inet']), interfaceName),
    // A restarted agent makes its tunnel anew: nobody has seen yet what a Mac leaves of one.
    takeOver: async () => undefined,
    async recover(interfaceName) {
      requireUtun(interfaceName);
      await recoverDevice(interfaceName);
    },
    async open(options) {
      const { interfaceName } = options;
      requireUtun(interfaceName);
      // The application and this program use the same interface and the same routes (docs/platforms.md#macos).
      if ((await run('ifconfig', [interfaceName])).code === 0) {
        throw new MeshError(
          'conflict',
          `Another Mesh client holds the interface ${interfaceName}, perhaps the Mesh application: only one can run on a Mac at a time. Quit it, then try again.`,
        );
      }
      await requireFreePort(options.listenPort);
      const device = await startDevice(interfaceName, options.ending);
      try {
        await bringUp(device, options);
        return await tunnelOver(device, options, movePlaces);
      } catch (error) {
        await device.remove();
        throw error;
      }
    },
  };
}

function requireUtun(interfaceName: string): void {
  if (/^utun\d{1,4}$/.test(interfaceName)) return;
  const message = `macOS takes no tunnel named ${interfaceName}: it needs utun and a number, as --interface utun96.`;
  throw new MeshError('invalid_input', message);
}
