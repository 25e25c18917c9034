import { rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { AGENT } from '../client/agent/node-locks.ts';
import { RECORD_COPY } from '../client/agent/node-traces.ts';
import { type NodeConfig, nodeConfigFile, readNodeConfig } from '../client/enrol/node-config.ts';
import { PlaneApi, PlaneAway, PlaneRefusal } from '../client/enrol/plane-api.ts';
import { type Answer, answering } from './answer.ts';
import type { CommandContext } from './command-context.ts';
import { endAgent } from './end-agent.ts';
import { CliError, EXIT } from './exit.ts';
import { noConfiguration } from './no-configuration.ts';
import { nodeDirectory } from './node-directory.ts';
import { asCliError } from './node-errors.ts';
import { interfaceOf } from './node-options.ts';
import { requireNodeRights } from './node-rights.ts';
import { findService, localManager } from './service/local-manager.ts';

interface LeaveOptions {
  readonly configDir?: string;
  readonly interface?: string;
  readonly force?: boolean;
}

/** The files of a node in its directory; other files there are not its own. */
const FILES = [
  'node.json',
  'node.key',
  'graph.json',
  'known-peers.json',
  'known-addresses.json',
  'audit-log.json',
  RECORD_COPY,
  'agent.sock',
  AGENT.pidFile,
  AGENT.lockFile,
];

/** `mesh leave`: removes the peer of this machine, and all that its node has here. */
export function defineLeave(leave: Command, { loadLauncher }: CommandContext): void {
  answering(
    leave
      .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)')
      .option('--interface <name>', 'interface of its service (the one it was installed with)', interfaceOf)
      .option('--force', 'take away what is here although the control plane could not be told'),
    async ({ configDir, interface: named, force = false }: LeaveOptions): Promise<Answer> => {
      requireNodeRights('mesh leave', configDir);
      const directory = nodeDirectory(configDir);
      const config = configOf(directory, force);
      const isRemoved = config !== undefined && (await removed(config, force));
      const { service, trouble } = await withoutService(directory, named);
      await endAgent(directory);
      const launcher = await loadLauncher();
      await launcher.takeAway(directory).catch((error: unknown) => {
        throw asCliError(error);
      });
      await launcher.forget(directory);
      forget(directory);
      const name = config?.name ?? 'This node';
      const plane = isRemoved
        ? `${name} has left the network of ${config.server}.`
        : `${name} is gone from here. Its peer may still be registered: an administrator deletes it.`;
      return {
        value: { name: config?.name ?? null, removed: isRemoved, service, directory },
        text: `${plane} ${nodeConfigFile(directory)} is deleted; logs stay.${trouble === '' ? '' : ` Its service stays: ${trouble}`}`,
        ...(trouble !== '' && { exitCode: EXIT.negative }),
      };
    },
  );
}

/**
 * Uninstalls the service; without a named interface, the one that starts the node of this directory. Returns whether there was
 * one, and why it stays.
 */
async function withoutService(directory: string, named: string | undefined) {
  try {
    const found = findService(directory);
    const interfaceName = named ?? found?.interfaceName;
    const manager = found?.manager ?? localManager();
    const service = interfaceName !== undefined && (await manager.uninstall(interfaceName, directory));
    return { service, trouble: '' };
  } catch (error) {
    return { service: false, trouble: (error as Error).message };
  }
}

function configOf(directory: string, force: boolean): NodeConfig | undefined {
  try {
    const config = readNodeConfig(directory);
    if (!config) throw noConfiguration(directory);
    return config;
  } catch (error) {
    // A damaged configuration names no node: with --force its files are removed.
    const told = asCliError(error);
    if (force && told instanceof CliError && told.exitCode === EXIT.input) return undefined;
    throw told;
  }
}

/** @returns whether the control plane knows this node no more */
async function removed({ server, deviceToken }: NodeConfig, force: boolean): Promise<boolean> {
  try {
    await new PlaneApi(server, deviceToken).leave();
    return true;
  } catch (error) {
    if (error instanceof PlaneRefusal && IS_GONE.has(error.code)) return true;
    if (force && (error instanceof PlaneAway || error instanceof PlaneRefusal)) return false;
    const { message, exitCode } = asCliError(error) as CliError;
    throw new CliError(`${message} Nothing was changed here; --force leaves without telling it.`, exitCode);
  }
}

/** The codes that the control plane answers to a node that was removed before. */
const IS_GONE: ReadonlySet<string> = new Set(['unauthenticated', 'not_found']);

function forget(directory: string): void {
  for (const file of FILES) rmSync(path.join(directory, file), { force: true });
  try {
    rmdirSync(directory);
  } catch {
    // Others have files there.
  }
}
