import { Command } from 'commander';
import { formatAsked, notice } from '../cli/answer.ts';
import { endWithOutput } from '../cli/closed-output.ts';
import { addCommands } from '../cli/commands.ts';
import { tellFailure } from '../cli/failure.ts';
import { wrongVariables } from '../cli/wrong-variables.ts';
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
if (!words[0]?.startsWith('__')) for (const warning of wrongVariables(process.env)) notice(warning);
await addCommands(program, {
  words,
  version: VERSION,
  loadLauncher: async () => (await import('./compose/node-launcher.ts')).nodeLauncher,
  loadAuditStore: async () => (await import('./compose/audit-store.ts')).auditStore,
});
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = await tellFailure(error, { program, args: words, format: formatAsked(words) });
}
