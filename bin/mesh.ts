import { Command, CommanderError } from 'commander';
import { CliError, EXIT } from './commands/exit.ts';
import { addNodeCommands } from './commands/node-commands.ts';
import { VERSION } from './version.ts';

const program = new Command('mesh')
  .description('Command line of Mesh: the node of this machine, and the control plane')
  .version(VERSION)
  .showHelpAfterError()
  .exitOverride();
// A node comes up without reading what only administration needs.
if (!(await addNodeCommands(program, process.argv[2]))) {
  const { addPlaneCommands } = await import('./commands/plane-commands.ts');
  addPlaneCommands(program);
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.input;
  else if (error instanceof CliError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  } else throw error;
}
