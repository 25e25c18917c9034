import { CliError, EXIT } from './exit.ts';
import { quoted } from './own-command.ts';

/**
 * @param otherwise says what a user without these rights can do, if anything
 * @throws CliError with the exit code for missing rights, and the command line that was given with them
 */
export function requireRoot(command: string, otherwise = '', line: readonly string[] = process.argv.slice(2)): void {
  if (process.getuid?.() === 0) return;
  // A token is not shown again.
  const hasToken = line.some((word) => /^--token\b|mesh-[a-z]{3,4}-/.test(word));
  const again = hasToken ? 'run the same command with sudo' : `sudo ${['mesh', ...line.map(quoted)].join(' ')}`;
  const lines = [`${command} needs superuser rights: ${again}`, ...(otherwise === '' ? [] : [otherwise])];
  throw new CliError(lines.join('\n'), EXIT.needsRoot);
}
