import { askAgent, localSocketPath, NoAgent } from '../client/agent/local-socket.ts';
import { nodeStatusSchema } from '../client/agent/node-status.ts';
import { CliError, EXIT } from './exit.ts';
import { isRunning } from './is-running.ts';

const CHECK_MS = 100;
const END_MS = 10_000;

/** Ends the agent of a directory. @returns whether one ran. @throws CliError when it does not end */
export async function endAgent(directory: string): Promise<boolean> {
  const socket = localSocketPath(directory);
  try {
    const { node } = nodeStatusSchema.parse(await askAgent(socket, { ask: 'status' }));
    await askAgent(socket, { ask: 'down' });
    const deadline = performance.now() + END_MS;
    while (isRunning(node.pid)) {
      if (performance.now() > deadline)
        throw new CliError(`The node (pid ${node.pid}) does not end.`, EXIT.unavailable);
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    }
    return true;
  } catch (error) {
    if (error instanceof NoAgent) return false;
    throw error;
  }
}
