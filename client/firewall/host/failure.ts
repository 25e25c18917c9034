import { MeshError } from '../../../core/base/errors.ts';
import type { ProgramResult } from '../../run-program.ts';

const MOST_CHARACTERS = 300;

/** "ufw allow in on mesh0 failed: ERROR: …", with what the program said last. */
export function failureOf(file: string, args: readonly string[], { code, stdout, stderr }: ProgramResult): string {
  const said = (stderr.trim() || stdout.trim() || `exit code ${code}`)
    .replaceAll(/\s+/g, ' ')
    .slice(0, MOST_CHARACTERS);
  return `${[file, ...args].join(' ')} failed: ${said}`;
}

/** The host's firewall did not take a change. */
export function refused(file: string, args: readonly string[], result: ProgramResult): MeshError {
  return new MeshError('unavailable', failureOf(file, args, result));
}
