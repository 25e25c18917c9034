import type { Command } from 'commander';
import { isRunning } from '../is-running.ts';
import { CliError, EXIT } from './exit.ts';
import { askNode, nodeStatus } from './node-agent.ts';
import { requireRoot } from './root.ts';

const CHECK_MS = 100;
const END_MS = 10_000;

/** `mesh down`: ends the running node. */
export function addDownCommand(program: Command): void {
  program
    .command('down')
    .description('end the node of this machine and take its tunnel away; needs superuser rights')
    .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)')
    .action(async ({ configDir }: { configDir?: string }) => {
      requireRoot('mesh down');
      const { node } = await nodeStatus(configDir);
      await askNode(configDir, { ask: 'down' });
      await ended(node.pid);
      console.log(`${node.name} is down.`);
    });
}

/** `mesh rotate-key`: gives the running node another key. */
export function addRotateCommand(program: Command): void {
  program
    .command('rotate-key')
    .description('give this node another key while it is up; tunnels go on; needs superuser rights')
    .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)')
    .action(async ({ configDir }: { configDir?: string }) => {
      requireRoot('mesh rotate-key');
      const { publicKey } = (await askNode(configDir, { ask: 'rotate-key' })) as { publicKey: string };
      console.log(`New public key: ${publicKey}`);
    });
}

async function ended(pid: number): Promise<void> {
  const deadline = performance.now() + END_MS;
  while (isRunning(pid)) {
    if (performance.now() > deadline) throw new CliError(`The node (pid ${pid}) does not end.`, EXIT.unavailable);
    await new Promise((resolve) => setTimeout(resolve, CHECK_MS));
  }
}
