import { type NodeEnd, NodeRefusal, type RefusalReason } from '../client/agent/launch.ts';
import { PlaneAway, PlaneRefusal } from '../client/enrol/plane-api.ts';
import { StateNotWritten } from '../client/enrol/private-file.ts';
import { MeshError } from '../core/base/errors.ts';
import { CliError, EXIT, exitCodeOf } from './exit.ts';

const EXIT_OF_REFUSAL: Readonly<Record<RefusalReason, number>> = {
  'no-tunnel': EXIT.needsRoot,
  'not-configured': EXIT.notFound,
  'in-use': EXIT.conflict,
  'no-program': EXIT.input,
  'no-namespace': EXIT.unavailable,
  'wrong-setting': EXIT.input,
  'not-written': EXIT.unavailable,
};

const EXIT_OF_END = {
  asked: EXIT.ok,
  failed: EXIT.unavailable,
  expired: EXIT.conflict,
  removed: EXIT.notFound,
} as const;

/** The exit code of a node that ended, or of its task. */
export function exitCodeOfEnd(end: NodeEnd): number {
  return end.why === 'task' ? end.exitCode : EXIT_OF_END[end.why];
}

/** Returns an error of the node as one line for the user, with the exit code of its class. */
export function asCliError(error: unknown): Error {
  if (error instanceof PlaneRefusal) return new CliError(error.message, exitCodeOf(error.code), { code: error.code });
  if (error instanceof PlaneAway) return new CliError(`${error.message}. Is meshd running there?`, EXIT.unavailable);
  if (error instanceof MeshError) return new CliError(error.message, exitCodeOf(error.code), { code: error.code });
  if (error instanceof NodeRefusal) return new CliError(error.message, EXIT_OF_REFUSAL[error.reason]);
  if (error instanceof StateNotWritten || isOfDisk(error)) return new CliError(error.message, EXIT.unavailable);
  return error instanceof Error ? error : new Error(String(error));
}

/** The errors of a disk that is full, broken or read-only; Node names the path in such messages. */
const DISK_CODES = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

function isOfDisk(error: unknown): error is Error {
  return error instanceof Error && DISK_CODES.has((error as NodeJS.ErrnoException).code ?? '');
}
