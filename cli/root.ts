import { CliError, EXIT } from './exit.ts';
import { quoted } from './own-command.ts';

/** @throws CliError with the exit code for missing rights, and the command line that was given with them */
export function requireRoot(command: string, line: readonly string[] = process.argv.slice(2)): void {
  if (process.getuid?.() === 0) return;
  // A token is not shown again.
  const hasToken = line.some((word) => /^--token\b|mesh-[a-z]{3,4}-/.test(word));
  const again = hasToken ? 'run the same command with sudo' : `sudo ${['mesh', ...line.map(quoted)].join(' ')}`;
  throw new CliError(`${command} needs superuser rights: ${again}`, EXIT.needsRoot);
}
