import type { Command } from 'commander';
import { addDownCommands } from './node-down.ts';
import { addInitCommand } from './node-init.ts';
import { addNetcheckCommand } from './node-netcheck.ts';
import { addPingCommand } from './node-ping.ts';
import { addSandboxCommand } from './node-sandbox.ts';
import { addStatusCommand } from './node-status.ts';
import { addUpCommand } from './node-up.ts';

/** The commands of the node of this machine. @returns their names */
export function addNodeCommands(program: Command): ReadonlySet<string> {
  addInitCommand(program);
  addUpCommand(program);
  addDownCommands(program);
  addStatusCommand(program);
  addPingCommand(program);
  addNetcheckCommand(program);
  addSandboxCommand(program);
  return new Set(program.commands.map((command) => command.name()));
}
