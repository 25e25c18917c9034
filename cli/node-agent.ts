import {
  askAgent,
  type LocalRequest,
  localSocketPath,
  NoAgent,
  openAgentStream,
  untilClosed,
} from '../client/agent/local-socket.ts';
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

/**
 * Returns a signal that is aborted once the agent ends; never, where the agent is of an earlier version that does not tell.
 * It does not keep a command from ending.
 */
export async function nodeEnd(configDir: string | undefined): Promise<AbortSignal> {
  const end = new AbortController();
  const held = await openAgentStream(localSocketPath(nodeDirectory(configDir)), { ask: 'watch' }).catch(
    () => undefined,
  );
  held?.unref();
  if (held) void untilClosed(held).finally(() => end.abort());
  return end.signal;
}

function hasConfiguration(directory: string): boolean {
  try {
    return readNodeConfig(directory) !== undefined;
  } catch (error) {
    throw asCliError(error);
  }
}
