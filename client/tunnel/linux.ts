import { MeshError } from '../../core/base/errors.ts';
import { keyPairOf } from '../../net/seal/x25519.ts';
import type { Place } from '../places.ts';
import { runProgram } from '../run-program.ts';
import { type Device, type MovePlaces, tunnelOver } from './device.ts';
import { requireFreePort } from './free-port.ts';
import { askGeneration } from './generation.ts';
import { hasInterface } from './has-interface.ts';
import { hostFacts } from './host-facts.ts';
import { recoverWireGuardGo, takeOverWireGuardGo } from './left-wireguard-go.ts';
import { KERNEL, restoreRecord } from './lost-record.ts';
import { ADDED_BYTES } from './mtu.ts';
import { isRelevantOnLinux, watchByProgram } from './network-watch.ts';
import { obstaclesOf } from './obstacles.ts';
import { linuxProcesses } from './process-table.ts';
import { collidingRoutes } from './routes.ts';
import type { TunnelOptions, TunnelPlatform } from './tunnel.ts';
import { getWithTool, setWithTool } from './wg-tool.ts';
import { wireGuardGoDevice } from './wireguard-go.ts';
import { forget, isRecorded, remember } from './wireguard-go-record.ts';

/** WireGuard of the kernel where it is, wireguard-go elsewhere. */
export const linuxTunnels: TunnelPlatform = {
  obstacles: async () => obstaclesOf(await hostFacts()),
  collisions: async (cidr, interfaceName) =>
    collidingRoutes(cidr, await ip(['-json', 'route', 'show', 'table', 'all']), interfaceName),
  async takeOver(options) {
    const { interfaceName, privateKey } = options;
    if (!hasInterface(interfaceName)) return undefined;
    await restoreRecord(interfaceName, publicKeyOf(privateKey), linuxProcesses);
    const device =
      (await takeOverWireGuardGo(interfaceName, linuxProcesses)) ?? (await leftKernelDevice(interfaceName));
    const places = device && (await placesAsAsked(device, options));
    return places && tunnelOver(device, options, movePlaces, places);
  },
  async recover(interfaceName, publicKey) {
    if (hasInterface(interfaceName)) await restoreRecord(interfaceName, publicKey, linuxProcesses);
    // Another's interface of this name stays.
    const isOurs = await isRecorded(interfaceName);
    await recoverWireGuardGo(interfaceName, linuxProcesses);
    if (isOurs && hasInterface(interfaceName)) await ip(['link', 'delete', 'dev', interfaceName]);
  },
  async open(options) {
    if (hasInterface(options.interfaceName)) {
      throw new MeshError('conflict', foreignText(options.interfaceName));
    }
    await requireFreePort(options.listenPort);
    const device = (await kernelDevice(options.interfaceName)) ?? (await userspaceDevice(options));
    try {
      await bringUp(device, options);
      return await tunnelOver(device, options, movePlaces);
    } catch (error) {
      await device.remove();
      throw error;
    }
  },
  watchNetwork: (interfaceName, log, onChange) =>
    watchByProgram(['ip', '-o', 'monitor', 'address', 'route'], {
      log,
      isRelevant: (line) => isRelevantOnLinux(line, interfaceName),
      onChange,
    }),
};

async function bringUp(device: Device, options: TunnelOptions): Promise<void> {
  const { interfaceName, address, cidr, mtu, listenPort, privateKey, log } = options;
  await device.set({ privateKey, listenPort });
  await batch([
    `link set dev ${interfaceName} mtu ${mtu} up`,
    `address add ${address}/32 dev ${interfaceName}`,
    `route add ${cidr} dev ${interfaceName} src ${address}`,
  ]);
  if (device.kind === 'kernel') return;
  // An older Linux or iproute2 knows it not; then bursts are longer.
  const { code, stderr } = await runProgram('ip', [
    'link',
    'set',
    'dev',
    interfaceName,
    'gso_max_size',
    `${burstBytesOf(mtu)}`,
  ]);
  if (code !== 0) log.debug({ reason: stderr.trim() }, `${interfaceName} keeps its longest bursts`);
}

/** New ones are in use before the old ones go: connections of other addresses are not touched. */
const movePlaces: MovePlaces = (interfaceName, from, to) =>
  batch([
    ...to.flatMap(({ address, cidr }) => [
      `address replace ${address}/32 dev ${interfaceName}`,
      `route replace ${cidr} dev ${interfaceName} src ${address}`,
    ]),
    ...from.flatMap(({ cidr }) =>
      to.some((place) => place.cidr === cidr) ? [] : [`route delete ${cidr} dev ${interfaceName}`],
    ),
    ...from.flatMap(({ address }) =>
      to.some((place) => place.address === address) ? [] : [`address delete ${address}/32 dev ${interfaceName}`],
    ),
  ]);

async function userspaceDevice({ interfaceName, ending }: TunnelOptions): Promise<Device> {
  return wireGuardGoDevice(interfaceName, await askGeneration(), linuxProcesses, ending);
}

/** How often it is seen whether a kernel interface still exists. */
const WATCH_MS = 2_000;

/** Undefined where the kernel has no WireGuard. */
async function kernelDevice(interfaceName: string): Promise<Device | undefined> {
  const { code } = await runProgram('ip', ['link', 'add', 'dev', interfaceName, 'type', 'wireguard']);
  if (code !== 0) return undefined;
  await remember(interfaceName, KERNEL, linuxProcesses);
  return watchedKernelDevice(interfaceName);
}

async function leftKernelDevice(interfaceName: string): Promise<Device | undefined> {
  const [link] = JSON.parse(await ip(['-json', '-details', 'link', 'show', 'dev', interfaceName]));
  return link?.linkinfo?.info_kind === 'wireguard' ? watchedKernelDevice(interfaceName) : undefined;
}

/**
 * Returns the places of an existing device that has the key, port, address and size that this node needs, so that nothing of it
 * changes; undefined for any other device.
 */
async function placesAsAsked(device: Device, options: TunnelOptions): Promise<readonly Place[] | undefined> {
  const { interfaceName, privateKey, listenPort, address, cidr, mtu } = options;
  const held = await device.get();
  if (held.publicKey !== publicKeyOf(privateKey) || held.listenPort !== listenPort) return undefined;
  const [[link], routes] = await Promise.all(
    ['address', 'route'].map(async (what) => JSON.parse(await ip(['-json', '-4', what, 'show', 'dev', interfaceName]))),
  );
  const addresses: readonly string[] = link?.addr_info?.map(({ local }: { readonly local: string }) => local) ?? [];
  const places = (routes as readonly { readonly dst: string; readonly prefsrc?: string }[]).flatMap(
    ({ dst, prefsrc = '' }): Place[] => (addresses.includes(prefsrc) ? [{ address: prefsrc, cidr: dst }] : []),
  );
  const isAsAsked = link?.mtu === mtu && places.some((place) => place.address === address && place.cidr === cidr);
  return isAsAsked ? places : undefined;
}

function publicKeyOf(privateKey: Uint8Array): string {
  return Buffer.from(keyPairOf(privateKey).publicKey).toString('base64');
}

/** Says that an interface is there which no note and no key shows to be of this node. */
export function foreignText(interfaceName: string): string {
  return (
    `There is an interface ${interfaceName} already, and nothing shows that it is of this node. Choose another name with ` +
    `--interface, or, if nothing needs it, remove it: ip link delete dev ${interfaceName}`
  );
}

function watchedKernelDevice(interfaceName: string): Device {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const watch = setInterval(() => {
    if (hasInterface(interfaceName)) return;
    clearInterval(watch);
    resolve(`The interface ${interfaceName} was taken away.`);
  }, WATCH_MS);
  return {
    kind: 'kernel',
    mixesFamilies: true,
    set: (change) => setWithTool(interfaceName, change),
    get: () => getWithTool(interfaceName),
    ended,
    async remove() {
      clearInterval(watch);
      if (hasInterface(interfaceName)) await ip(['link', 'delete', 'dev', interfaceName]);
      await forget(interfaceName);
      resolve('It was closed.');
    },
  };
}

async function batch(lines: readonly string[]): Promise<void> {
  await ip(['-batch', '-'], `${lines.join('\n')}\n`);
}

async function ip(args: readonly string[], stdin = ''): Promise<string> {
  const { code, stdout, stderr } = await runProgram('ip', args, { stdin });
  if (code === 0) return stdout;
  throw new MeshError('unavailable', `ip ${args.join(' ')} failed: ${stderr.trim()}`);
}

/** Largest UDP payload of one IPv4 packet. */
const MESSAGE_BYTES = 65_507;
/** Headers of TCP with time stamps over IPv6; those over IPv4 are shorter. */
const TCP_HEADER_BYTES = 72;

/**
 * Returns how much of a TCP stream Linux hands to the tunnel at once (`gso_max_size` of the interface), so that its packets leave as
 * one message. Of the 53 that 64 KiB make, 49 fit into one: each hop would wake up once more for the other 4.
 */
export function burstBytesOf(mtu: number): number {
  return Math.floor(MESSAGE_BYTES / (mtu + ADDED_BYTES)) * (mtu - TCP_HEADER_BYTES);
}
