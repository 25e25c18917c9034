import { Command } from 'commander';
import { formatAsked } from '../cli/answer.ts';
import { endWithOutput } from '../cli/closed-output.ts';
import { tellFailure } from '../cli/failure.ts';
import { addNodeCommands } from '../cli/node-commands.ts';
import { VERSION } from './compose/version.ts';

endWithOutput();
const program = new Command('mesh')
  .description('Command line of Mesh: the node of this machine, and the control plane')
  .version(VERSION)
  // An option belongs to the command that it follows.
  .enablePositionalOptions()
  .configureOutput({ outputError: () => {} })
  .exitOverride();
// A node comes up without reading what only administration needs.
const loadLauncher = async () => (await import('./compose/node-launcher.ts')).nodeLauncher;
if (!(await addNodeCommands(program, process.argv[2], loadLauncher))) {
  const { addPlaneCommands } = await import('../cli/plane-commands.ts');
  addPlaneCommands(program);
}

const args = process.argv.slice(2);
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = tellFailure(error, { program, args, format: formatAsked(args) });
}
