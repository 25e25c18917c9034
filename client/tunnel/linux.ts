import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { MeshError } from '../../core/errors.ts';
import { runProgram } from '../run-program.ts';
import { hostFacts } from './host-facts.ts';
import { obstaclesOf } from './obstacles.ts';
import { collidingRoutes } from './routes.ts';
import type { Tunnel, TunnelOptions, TunnelPlatform } from './tunnel.ts';
import type { DeviceChange, DeviceState } from './uapi.ts';
import { getDevice, portInUse, setDevice } from './uapi-socket.ts';
import { getWithTool, setWithTool } from './wg-tool.ts';
import { recoverWireGuardGo, startWireGuardGo } from './wireguard-go.ts';

/** An interface without addresses, of either kind. */
interface Device {
  readonly kind: Tunnel['kind'];
  set(change: DeviceChange): Promise<void>;
  get(): Promise<DeviceState>;
  readonly ended: Promise<string>;
  remove(): Promise<void>;
}

/** WireGuard of the kernel where it is, wireguard-go elsewhere. */
export const linuxTunnels: TunnelPlatform = {
  obstacles: async () => obstaclesOf(await hostFacts()),
  collisions: async (cidr, interfaceName) =>
    collidingRoutes(cidr, await ip(['-json', 'route', 'show', 'table', 'all']), interfaceName),
  async recover(interfaceName) {
    await recoverWireGuardGo(interfaceName);
    if (isThere(interfaceName)) await ip(['link', 'delete', 'dev', interfaceName]);
  },
  async open(options) {
    if (isThere(options.interfaceName)) {
      throw new MeshError('conflict', `There is an interface ${options.interfaceName} already. Choose another name.`);
    }
    await requireFreePort(options.listenPort);
    const device = await makeDevice(options.interfaceName);
    try {
      await bringUp(device, options);
      return await tunnelOver(device, options);
    } catch (error) {
      await device.remove();
      throw error;
    }
  },
};

async function bringUp(device: Device, { interfaceName, address, cidr, mtu, listenPort, privateKey }: TunnelOptions) {
  await device.set({ privateKey, listenPort });
  await batch([
    `link set dev ${interfaceName} mtu ${mtu} up`,
    `address add ${address}/32 dev ${interfaceName}`,
    `route add ${cidr} dev ${interfaceName} src ${address}`,
  ]);
}

async function tunnelOver(device: Device, options: TunnelOptions): Promise<Tunnel> {
  const { interfaceName } = options;
  const { listenPort } = await device.get();
  let { address, cidr } = options;
  let closing: Promise<void> | undefined;
  return {
    kind: device.kind,
    interfaceName,
    listenPort,
    change: (put, removed) => device.set({ put, removed }),
    setEndpoint: (publicKey, endpoint) => device.set({ endpoints: [[publicKey, endpoint]] }),
    setPrivateKey: (privateKey) => device.set({ privateKey }),
    async setAddress(newAddress, newCidr) {
      const before = { address, cidr };
      if (before.address === newAddress && before.cidr === newCidr) return;
      // The new one is in use before the old one goes: connections of other addresses are not touched.
      await batch([
        `address replace ${newAddress}/32 dev ${interfaceName}`,
        `route replace ${newCidr} dev ${interfaceName} src ${newAddress}`,
        ...(before.cidr === newCidr ? [] : [`route delete ${before.cidr} dev ${interfaceName}`]),
        ...(before.address === newAddress ? [] : [`address delete ${before.address}/32 dev ${interfaceName}`]),
      ]);
      [address, cidr] = [newAddress, newCidr];
    },
    peers: async () => (await device.get()).peers,
    ended: device.ended,
    close() {
      closing ??= device.remove();
      return closing;
    },
  };
}

function makeDevice(interfaceName: string): Promise<Device> {
  return kernelDevice(interfaceName).then((device) => device ?? userspaceDevice(interfaceName));
}

/** How often it is seen whether a kernel interface still exists. */
const WATCH_MS = 2_000;

/** Undefined where the kernel has no WireGuard. */
async function kernelDevice(interfaceName: string): Promise<Device | undefined> {
  const { code } = await runProgram('ip', ['link', 'add', 'dev', interfaceName, 'type', 'wireguard']);
  if (code !== 0) return undefined;
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const watch = setInterval(() => {
    if (isThere(interfaceName)) return;
    clearInterval(watch);
    resolve(`The interface ${interfaceName} was taken away.`);
  }, WATCH_MS);
  return {
    kind: 'kernel',
    set: (change) => setWithTool(interfaceName, change),
    get: () => getWithTool(interfaceName),
    ended,
    async remove() {
      clearInterval(watch);
      if (isThere(interfaceName)) await ip(['link', 'delete', 'dev', interfaceName]);
      resolve('It was closed.');
    },
  };
}

async function userspaceDevice(interfaceName: string): Promise<Device> {
  const { ended, stop } = await startWireGuardGo(interfaceName);
  return {
    kind: 'wireguard-go',
    set: (change) => setDevice(interfaceName, change),
    get: () => getDevice(interfaceName),
    ended,
    remove: stop,
  };
}

/** WireGuard itself says nothing when it cannot have the port on the way up. */
async function requireFreePort(port: number): Promise<void> {
  if (port === 0) return;
  const socket = createSocket('udp4');
  try {
    socket.bind({ port, exclusive: true });
    await once(socket, 'listening');
  } catch {
    throw portInUse(port);
  } finally {
    socket.close();
  }
}

function isThere(interfaceName: string): boolean {
  return existsSync(`/sys/class/net/${interfaceName}`);
}

async function batch(lines: readonly string[]): Promise<void> {
  await ip(['-batch', '-'], `${lines.join('\n')}\n`);
}

async function ip(args: readonly string[], stdin = ''): Promise<string> {
  const { code, stdout, stderr } = await runProgram('ip', args, { stdin });
  if (code === 0) return stdout;
  throw new MeshError('unavailable', `ip ${args.join(' ')} failed: ${stderr.trim()}`);
}
