import type { Command } from 'commander';
import { type Answer, answering } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { isRunning } from './is-running.ts';
import { askNode, nodeStatus } from './node-agent.ts';
import { requireRoot } from './root.ts';

const CHECK_MS = 100;
const END_MS = 10_000;

/** `mesh down`: ends the running node. */
export function defineDown(down: Command): void {
  answering(
    down.option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)'),
    async ({ configDir }: { configDir?: string }): Promise<Answer> => {
      requireRoot('mesh down');
      const { node } = await nodeStatus(configDir);
      await askNode(configDir, { ask: 'down' });
      await ended(node.pid);
      return { value: { name: node.name, state: 'down' }, text: `${node.name} is down.` };
    },
  );
}

/** `mesh rotate-key`: gives the running node another key. */
export function defineRotateKey(rotate: Command): void {
  answering(
    rotate.option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)'),
    async ({ configDir }: { configDir?: string }): Promise<Answer> => {
      requireRoot('mesh rotate-key');
      const { publicKey } = (await askNode(configDir, { ask: 'rotate-key' })) as { publicKey: string };
      return { value: { publicKey }, text: `New public key: ${publicKey}` };
    },
  );
}

async function ended(pid: number): Promise<void> {
  const deadline = performance.now() + END_MS;
  while (isRunning(pid)) {
    if (performance.now() > deadline) throw new CliError(`The node (pid ${pid}) does not end.`, EXIT.unavailable);
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  }
}
