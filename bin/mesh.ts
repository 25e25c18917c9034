import { Command } from 'commander';
import { formatAsked, notice } from '../cli/answer.ts';
import { endWithOutput } from '../cli/closed-output.ts';
import { addCommands } from '../cli/commands.ts';
import { VERSION } from './compose/version.ts';

endWithOutput();
const program = new Command('mesh')
  .description('Command line of Mesh: the node of this machine, and the control plane')
  .version(VERSION)
  // An option belongs to the command that it follows.
  .enablePositionalOptions()
  .configureOutput({ outputError: () => {} })
  .exitOverride();

const words = process.argv.slice(2);
// A shell that completes a word shows what is said on standard error in the middle of it.
if (!words[0]?.startsWith('__') && Object.keys(process.env).some((name) => name.startsWith('MESH_'))) {
  const { wrongVariables } = await import('../cli/wrong-variables.ts');
  for (const warning of wrongVariables(process.env)) notice(warning);
}
await addCommands(program, {
  words,
  version: VERSION,
  loadLauncher: async () => (await import('./compose/node-launcher.ts')).nodeLauncher,
  loadAuditStore: async () => (await import('./compose/audit-store.ts')).auditStore,
});
try {
  await program.parseAsync();
} catch (error) {
  // A node that runs for months need not hold what tells of mistakes.
  const { reportFailure } = await import('../cli/failure.ts');
  process.exitCode = await reportFailure(error, { program, args: words, format: formatAsked(words) });
}
