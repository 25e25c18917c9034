import { Command, CommanderError } from 'commander';
import { operations } from '../tools/index.ts';
import { addAdminCommands } from './commands/admin.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { CliError, EXIT } from './commands/exit.ts';
import { addInviteCommand } from './commands/invite.ts';
import { addLoginCommands } from './commands/login.ts';
import { addMcpCommands } from './commands/mcp.ts';
import { addDownCommands } from './commands/node-down.ts';
import { addInitCommand } from './commands/node-init.ts';
import { addNetcheckCommand } from './commands/node-netcheck.ts';
import { addPingCommand } from './commands/node-ping.ts';
import { addStatusCommand } from './commands/node-status.ts';
import { addUpCommand } from './commands/node-up.ts';
import { addWhyCommand } from './commands/node-why.ts';
import { addPolicyCommands } from './commands/policy-test.ts';
import { VERSION } from './version.ts';

const program = new Command('mesh')
  .description('Command line of Mesh: the node of this machine, and the control plane')
  .version(VERSION)
  .showHelpAfterError()
  .exitOverride();
addInitCommand(program);
addUpCommand(program);
addDownCommands(program);
addStatusCommand(program);
addPingCommand(program);
addNetcheckCommand(program);
addWhyCommand(program);
addInviteCommand(program);
addLoginCommands(program);
addMcpCommands(program);
addPolicyCommands(program);
addAdminCommands(program, operations);
addCompletionCommand(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.input;
  else if (error instanceof CliError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  } else throw error;
}
