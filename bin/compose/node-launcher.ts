import type { NodeLauncher } from '../../client/agent/launch.ts';
import { beginAgainCompiled } from './compiled.ts';
import { runNode } from './node.ts';

/** Runs nodes on this machine. What a sandbox needs beyond a node is read where one is asked for. */
export const nodeLauncher: NodeLauncher = {
  beginAgainCompiled,
  runNode,
  runSandbox: async (options) => (await import('./sandbox.ts')).runSandbox(options),
};
