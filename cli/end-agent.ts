import { askAgent, localSocketPath, NoAgent } from '../client/agent/local-socket.ts';
import { nodeStatusSchema } from '../client/agent/node-status.ts';
import { isRunning } from './is-running.ts';

const CHECK_MS = 100;
const END_MS = 10_000;

/** Ends the agent of a directory, as far as it listens. @returns whether one was there, ended or not */
export async function endAgent(directory: string): Promise<boolean> {
  const socket = localSocketPath(directory);
  try {
    const asked = AbortSignal.timeout(END_MS);
    const { node } = nodeStatusSchema.parse(await askAgent(socket, { ask: 'status' }, asked));
    await askAgent(socket, { ask: 'down' }, asked);
    const deadline = performance.now() + END_MS;
    while (isRunning(node.pid) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
    }
    return true;
  } catch (error) {
    // A hanging agent still holds its interface: whoever removes the interface kills the agent.
    return !(error instanceof NoAgent);
  }
}
