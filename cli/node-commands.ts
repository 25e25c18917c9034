import type { Command } from 'commander';
import type { NodeLauncher } from '../client/agent/launch.ts';

type Add = (program: Command, loadLauncher: () => Promise<NodeLauncher>) => void;

/** In the order that help shows them. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  init: async () => (await import('./node-init.ts')).addInitCommand,
  up: async () => (await import('./node-up.ts')).addUpCommand,
  down: async () => (await import('./node-down.ts')).addDownCommand,
  'rotate-key': async () => (await import('./node-down.ts')).addRotateCommand,
  status: async () => (await import('./node-status.ts')).addStatusCommand,
  ping: async () => (await import('./node-ping.ts')).addPingCommand,
  netcheck: async () => (await import('./node-netcheck.ts')).addNetcheckCommand,
  sandbox: async () => (await import('./node-sandbox.ts')).addSandboxCommand,
};

/**
 * The commands of the node of this machine: of all of them only the one that is asked for, so that a node which runs for
 * months holds nothing of the others.
 *
 * @param loadLauncher loads what runs a node, for the commands that do
 * @returns whether one of them is asked for
 */
export async function addNodeCommands(
  program: Command,
  asked: string | undefined,
  loadLauncher: () => Promise<NodeLauncher>,
): Promise<boolean> {
  const one = asked !== undefined && Object.hasOwn(COMMANDS, asked) ? COMMANDS[asked] : undefined;
  program.commandsGroup('The node of this machine:');
  for (const load of one ? [one] : Object.values(COMMANDS)) (await load())(program, loadLauncher);
  return one !== undefined;
}
