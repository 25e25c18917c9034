import type { Command } from 'commander';
import { lostNodeOf, nodesOf } from '../client/agent/node-traces.ts';
import { readNodeConfig } from '../client/enrol/node-config.ts';
import { openedRecord } from '../client/firewall/host/opened.ts';
import { type Answer, answering } from './answer.ts';
import type { CommandContext } from './command-context.ts';
import { endAgent } from './end-agent.ts';
import { noConfiguration } from './no-configuration.ts';
import { askNode } from './node-agent.ts';
import { nodeDirectory } from './node-directory.ts';
import { asCliError } from './node-errors.ts';
import { requireNodeRights } from './node-rights.ts';

/** `mesh down`: ends the running node, and takes away what one left that ended otherwise. */
export function defineDown(down: Command, { loadLauncher }: CommandContext): void {
  answering(
    down.option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)'),
    async ({ configDir }: { configDir?: string }): Promise<Answer> => {
      requireNodeRights('mesh down', configDir);
      const directory = nodeDirectory(configDir);
      const wasUp = await endAgent(directory);
      // An agent that ended in order has taken its note with it.
      const isRecorded = nodesOf(directory).length > 0 || lostNodeOf(directory) !== undefined;
      const isLeft = isRecorded || openedRecord(directory).read() !== undefined;
      const left = isLeft ? await (await loadLauncher()).takeAway(directory).catch(throwNodeError) : [];
      const name = nameOf(directory) ?? left.join();
      if (name === '') throw noConfiguration(directory);
      const what = wasUp ? 'is down' : 'was not up';
      const rest =
        left.length > 0 ? `what its agent left is taken away: ${left.join(', ')}, firewall and processes` : '';
      const nothing = wasUp ? '' : 'there was nothing to take away';
      return {
        value: { name, state: 'down', wasUp, takenAway: left },
        text: `${[`${name} ${what}`, rest || nothing].filter((part) => part !== '').join('; ')}.`,
      };
    },
  );
}

/** `mesh rotate-key`: gives the running node another key. */
export function defineRotateKey(rotate: Command): void {
  answering(
    rotate.option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)'),
    async ({ configDir }: { configDir?: string }): Promise<Answer> => {
      requireNodeRights('mesh rotate-key', configDir);
      const { publicKey } = (await askNode(configDir, { ask: 'rotate-key' })) as { publicKey: string };
      return { value: { publicKey }, text: `New public key: ${publicKey}` };
    },
  );
}

function throwNodeError(error: unknown): never {
  throw asCliError(error);
}

function nameOf(directory: string): string | undefined {
  try {
    return readNodeConfig(directory)?.name;
  } catch (error) {
    throw asCliError(error);
  }
}
