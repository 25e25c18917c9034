import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { localSocketPath } from '../../client/agent/local-socket.ts';
import { INTERFACE, lockHolder } from '../../client/agent/node-locks.ts';
import {
  forgetNode,
  interfacesOf,
  isNodeRecorded,
  lostNodeOf,
  type NodeTrace,
  nodesOf,
} from '../../client/agent/node-traces.ts';
import { readNodeConfig } from '../../client/enrol/node-config.ts';
import { makePrivateDirectory } from '../../client/enrol/private-file.ts';
import { openedRecord } from '../../client/firewall/host/opened.ts';
import { leaseOf } from '../../client/firewall/nftables.ts';
import { platformFirewall, platformHostRules } from '../../client/firewall/platform.ts';
import { removeSharingRules } from '../../client/ice-port/rules.ts';
import { hostResolvers } from '../../client/names/resolvers/host.ts';
import { removeLoopbackAddresses } from '../../client/relay/loopback-addresses.ts';
import { removeRelayRules } from '../../client/relay/rules.ts';
import { RUN_DIRECTORY } from '../../client/run-directory.ts';
import { hasInterface } from '../../client/tunnel/has-interface.ts';
import { foreignText } from '../../client/tunnel/linux.ts';
import { tunnelPlatform } from '../../client/tunnel/platform.ts';
import { linuxProcesses, psProcesses } from '../../client/tunnel/process-table.ts';
import { MeshError } from '../../core/base/errors.ts';
import { keyPairOf } from '../../net/seal/x25519.ts';
import { lockDirectory } from '../../storage/directory-lock.ts';

/** The time within which a killed process ends. */
const END_MS = 5_000;
const POLL_MS = 20;

/**
 * The changes of a node to its host, each removed whether it is present or not; the firewall last, for packets that arrive
 * meanwhile.
 */
const CHANGES: readonly ((left: NodeTrace, publicKey: string | undefined) => Promise<void>)[] = [
  ({ interfaceName }) => forgetNames(interfaceName),
  ({ interfaceName }, publicKey) => tunnelPlatform(process.platform).recover(interfaceName, publicKey),
  ({ interfaceName }) => removeSharingRules(interfaceName),
  ({ wireguardPort }) => removeLoopbackAddresses(wireguardPort),
  ({ wireguardPort }) => removeRelayRules(wireguardPort),
  ({ interfaceName }) => platformFirewall(process.platform, interfaceName).close(),
];

async function forgetNames(interfaceName: string): Promise<void> {
  for (const resolver of hostResolvers(process.platform)) await resolver.unset(interfaceName);
}

/**
 * Removes what a node changed of its host, whoever runs now.
 *
 * @param publicKey of the node, base64
 * @throws MeshError `conflict` where its interface stays, since nothing shows that it is of this node
 */
export async function removeChanges(left: NodeTrace, publicKey: string | undefined): Promise<void> {
  for (const change of CHANGES) await change(left, publicKey);
  const { interfaceName } = left;
  if (process.platform === 'linux' && hasInterface(interfaceName)) {
    throw new MeshError('conflict', foreignText(interfaceName));
  }
}

/**
 * Takes away what agents of a configuration directory left, whatever ended them. One that holds on without answering is killed.
 *
 * @returns the interfaces that were taken away
 */
export async function cleanUpHost(directory: string): Promise<readonly string[]> {
  const lost = await nodeWithoutNote(directory);
  const left = [...nodesOf(directory), ...(lost ? [lost] : [])];
  for (const node of left) {
    const lock = await lockedOf(node.interfaceName);
    try {
      await removeChanges(node, publicKeyIn(directory));
      rmSync(localSocketPath(directory), { force: true });
      forgetNode(node);
    } finally {
      lock.release();
    }
  }
  const opened = await closeHost(directory);
  return [...new Set([...left.map(({ interfaceName }) => interfaceName), ...(opened === undefined ? [] : [opened])])];
}

/**
 * Returns the node of a configuration directory whose note is lost with /run, where something of it is there still.
 *
 * @throws MeshError `conflict` where its interface is there and not shown to be its own
 */
async function nodeWithoutNote(directory: string): Promise<NodeTrace | undefined> {
  const node = lostNodeOf(directory);
  if (!node || process.platform !== 'linux') return undefined;
  const { interfaceName } = node;
  if (hasInterface(interfaceName)) {
    await tunnelPlatform('linux').recover(interfaceName, publicKeyIn(directory));
    if (hasInterface(interfaceName)) throw new MeshError('conflict', foreignText(interfaceName));
  } else if ((await leaseOf(interfaceName)) === 'gone') {
    // As after a reboot, which files of the host's resolver outlast.
    await forgetNames(interfaceName);
    forgetNode(node);
    return undefined;
  }
  makePrivateDirectory(path.join(RUN_DIRECTORY, interfaceName));
  return node;
}

/** The key of the node of a directory, base64; undefined where its configuration is gone or damaged. */
function publicKeyIn(directory: string): string | undefined {
  try {
    const config = readNodeConfig(directory);
    const pair = config && keyPairOf(Buffer.from(config.privateKey, 'base64'));
    return pair && Buffer.from(pair.publicKey).toString('base64');
  } catch {
    return undefined;
  }
}

/** Removes the interface locks of the agents of a configuration directory, unless another node has the interface by now. */
export function forgetInterfaces(directory: string): void {
  for (const interfaceName of interfacesOf(directory)) {
    const place = path.join(RUN_DIRECTORY, interfaceName);
    try {
      const lock = lockDirectory(place, INTERFACE);
      if (!isNodeRecorded(interfaceName)) rmSync(place, { recursive: true, force: true });
      lock.release();
    } catch {
      // It is in use.
    }
  }
}

/**
 * Closes what an agent opened in the host's own firewall, even before a restart of the host. @returns the name of its interface
 */
async function closeHost(directory: string): Promise<string | undefined> {
  const interfaceName = openedRecord(directory).read()?.interfaceName;
  if (interfaceName === undefined) return undefined;
  try {
    await platformHostRules(process.platform, interfaceName, directory).close();
  } catch (error) {
    throw new MeshError(
      'unavailable',
      `The firewall of this host still accepts ${interfaceName}: ${(error as Error).message}. Once that works: mesh down`,
    );
  }
  return interfaceName;
}

async function lockedOf(interfaceName: string): Promise<{ release(): void }> {
  const directory = path.join(RUN_DIRECTORY, interfaceName);
  const deadline = performance.now() + END_MS;
  const processes = process.platform === 'linux' ? linuxProcesses : psProcesses();
  for (let isKilled = false; ; ) {
    try {
      return lockDirectory(directory, INTERFACE);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      const pid = isKilled ? undefined : await lockHolder(path.join(directory, INTERFACE.pidFile), processes);
      if (pid !== undefined) isKilled = process.kill(pid, 'SIGKILL');
      await after(POLL_MS);
    }
  }
}
