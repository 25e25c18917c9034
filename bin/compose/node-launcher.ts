import type { NodeLauncher } from '../../client/agent/launch.ts';
import { runNode } from './node.ts';

/** Runs nodes on this machine. What a sandbox needs beyond a node is read where one is asked for. */
export const nodeLauncher: NodeLauncher = {
  runNode,
  takeAway: async (directory) => (await import('./take-away.ts')).takeAway(directory),
  forget: async (directory) => (await import('./take-away.ts')).forgetInterfaces(directory),
  runSandbox: async (options) => (await import('./sandbox.ts')).runSandbox(options),
};
