import { CliError, EXIT } from './exit.ts';

/** @throws CliError with the exit code for missing rights */
export function requireRoot(command: string): void {
  if (process.getuid?.() === 0) return;
  throw new CliError(`${command} needs superuser rights: sudo ${command}`, EXIT.needsRoot);
}
