import { MeshError } from '../../core/base/errors.ts';
import { keyPairOf } from '../../net/seal/x25519.ts';
import { runIn, runProgram } from '../run-program.ts';
import { type Device, type MoveAddress, tunnelOver } from './device.ts';
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
    const { interfaceName, namespace, privateKey } = options;
    if (namespace !== undefined || !hasInterface(interfaceName)) return undefined;
    await restoreRecord(interfaceName, publicKeyOf(privateKey), linuxProcesses);
    const device =
      (await takeOverWireGuardGo(interfaceName, linuxProcesses)) ?? (await leftKernelDevice(interfaceName));
    if (!device || !(await isAsAsked(device, options))) return undefined;
    return tunnelOver(device, options, moveAddressBy(runProgram));
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
    const run = options.namespace === undefined ? runProgram : runIn(options.namespace);
    const device = await makeDevice(options, run);
    try {
      await bringUp(device, options, run);
      return await tunnelOver(device, options, moveAddressBy(run));
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

async function bringUp(device: Device, options: TunnelOptions, run: typeof runProgram): Promise<void> {
  const { interfaceName, address, cidr, mtu, listenPort, privateKey, log } = options;
  await device.set({ privateKey, listenPort });
  await batch(run, [
    `link set dev ${interfaceName} mtu ${mtu} up`,
    `address add ${address}/32 dev ${interfaceName}`,
    `route add ${cidr} dev ${interfaceName} src ${address}`,
  ]);
  if (device.kind === 'kernel') return;
  // An older Linux or iproute2 knows it not; then bursts are longer.
  const { code, stderr } = await run('ip', [
    'link',
    'set',
    'dev',
    interfaceName,
    'gso_max_size',
    `${burstBytesOf(mtu)}`,
  ]);
  if (code !== 0) log.debug({ reason: stderr.trim() }, `${interfaceName} keeps its longest bursts`);
}

/** The new one is in use before the old one goes: connections of other addresses are not touched. */
const moveAddressBy =
  (run: typeof runProgram): MoveAddress =>
  (interfaceName, from, to) =>
    batch(run, [
      `address replace ${to.address}/32 dev ${interfaceName}`,
      `route replace ${to.cidr} dev ${interfaceName} src ${to.address}`,
      ...(from.cidr === to.cidr ? [] : [`route delete ${from.cidr} dev ${interfaceName}`]),
      ...(from.address === to.address ? [] : [`address delete ${from.address}/32 dev ${interfaceName}`]),
    ]);

/** Made in the namespace of this process, where its socket stays, and then moved. */
async function makeDevice(options: TunnelOptions, run: typeof runProgram): Promise<Device> {
  const { interfaceName, namespace } = options;
  const device = (await kernelDevice(interfaceName, run)) ?? (await userspaceDevice(options));
  if (namespace === undefined) return device;
  try {
    await ip(['link', 'set', 'dev', interfaceName, 'netns', namespace]);
    return device;
  } catch (error) {
    await device.remove();
    throw error;
  }
}

async function userspaceDevice({ interfaceName, ending }: TunnelOptions): Promise<Device> {
  return wireGuardGoDevice(interfaceName, await askGeneration(), linuxProcesses, ending);
}

/** How often it is seen whether a kernel interface still exists. */
const WATCH_MS = 2_000;

/** Undefined where the kernel has no WireGuard. */
async function kernelDevice(interfaceName: string, run: typeof runProgram): Promise<Device | undefined> {
  const { code } = await runProgram('ip', ['link', 'add', 'dev', interfaceName, 'type', 'wireguard']);
  if (code !== 0) return undefined;
  await remember(interfaceName, KERNEL, linuxProcesses);
  return watchedKernelDevice(interfaceName, run);
}

async function leftKernelDevice(interfaceName: string): Promise<Device | undefined> {
  const [link] = JSON.parse(await ip(['-json', '-details', 'link', 'show', 'dev', interfaceName]));
  return link?.linkinfo?.info_kind === 'wireguard' ? watchedKernelDevice(interfaceName, runProgram) : undefined;
}

/** Tells whether an existing device has the key, port, address and size that this node needs, so that nothing of it changes. */
async function isAsAsked(device: Device, options: TunnelOptions): Promise<boolean> {
  const { interfaceName, privateKey, listenPort, address, cidr, mtu } = options;
  const held = await device.get();
  if (held.publicKey !== publicKeyOf(privateKey) || held.listenPort !== listenPort) return false;
  const [[link], routes] = await Promise.all(
    ['address', 'route'].map(async (what) => JSON.parse(await ip(['-json', '-4', what, 'show', 'dev', interfaceName]))),
  );
  const hasAddress = link?.addr_info?.some(({ local }: { readonly local?: string }) => local === address);
  return hasAddress === true && link.mtu === mtu && routes.some(({ dst }: { readonly dst?: string }) => dst === cidr);
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

function watchedKernelDevice(interfaceName: string, run: typeof runProgram): Device {
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  const isUp = async () =>
    run === runProgram
      ? hasInterface(interfaceName)
      : (await run('ip', ['link', 'show', 'dev', interfaceName])).code === 0;
  const watch = setInterval(async () => {
    if (await isUp()) return;
    clearInterval(watch);
    resolve(`The interface ${interfaceName} was taken away.`);
  }, WATCH_MS);
  return {
    kind: 'kernel',
    mixesFamilies: true,
    set: (change) => setWithTool(interfaceName, change, run),
    get: () => getWithTool(interfaceName, run),
    ended,
    async remove() {
      clearInterval(watch);
      if (await isUp()) await ip(['link', 'delete', 'dev', interfaceName], '', run);
      await forget(interfaceName);
      resolve('It was closed.');
    },
  };
}

async function batch(run: typeof runProgram, lines: readonly string[]): Promise<void> {
  await ip(['-batch', '-'], `${lines.join('\n')}\n`, run);
}

async function ip(args: readonly string[], stdin = '', run = runProgram): Promise<string> {
  const { code, stdout, stderr } = await run('ip', args, { stdin });
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
