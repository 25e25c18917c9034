import type { NodeLauncher } from '../../client/agent/launch.ts';
import { runNode } from './node.ts';

/** Runs nodes on this machine. What a sandbox needs beyond a node is read where one is asked for. */
export const nodeLauncher: NodeLauncher = {
  runNode,
  takeAway: async (directory) => (await import('./host-cleanup.ts')).cleanUpHost(directory),
  forget: async (directory) => (await import('./host-cleanup.ts')).forgetInterfaces(directory),
  runSandbox: async (options) => (await import('./sandbox.ts')).runSandbox(options),
};
