import { askAgent, type LocalRequest, localSocketPath, NoAgent } from '../client/agent/local-socket.ts';
import { type NodeStatus, nodeStatusSchema } from '../client/agent/node-status.ts';
import { readNodeConfig } from '../client/enrol/node-config.ts';
import { CliError, EXIT } from './exit.ts';
import { leftoverTunnel } from './leftover-tunnel.ts';
import { noConfiguration } from './no-configuration.ts';
import { nodeDirectory } from './node-directory.ts';
import { asCliError } from './node-errors.ts';
import { startHint } from './start-hint.ts';

/** Asks the agent of a configuration directory. @throws CliError that says how to start it when none runs */
export async function askNode(configDir: string | undefined, request: LocalRequest): Promise<unknown> {
  const directory = nodeDirectory(configDir);
  try {
    return await askAgent(localSocketPath(directory), request);
  } catch (error) {
    if (!(error instanceof NoAgent)) throw new CliError((error as Error).message, EXIT.unavailable);
    if (!hasConfiguration(directory)) throw noConfiguration(directory);
    const left = await leftoverTunnel(directory);
    const start = `Start it: ${startHint(directory)}`;
    throw new CliError(['This node is not up.', ...(left ? [left] : []), start].join(' '), EXIT.unavailable);
  }
}

export async function nodeStatus(configDir: string | undefined): Promise<NodeStatus> {
  return nodeStatusSchema.parse(await askNode(configDir, { ask: 'status' }));
}

function hasConfiguration(directory: string): boolean {
  try {
    return readNodeConfig(directory) !== undefined;
  } catch (error) {
    throw asCliError(error);
  }
}
