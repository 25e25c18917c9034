import { PlaneAway, PlaneRefusal } from '../client/enrol/plane-api.ts';
import { MeshError } from '../core/base/errors.ts';
import { CliError, EXIT, exitCodeOf } from './exit.ts';

/** What went wrong at the node as one line for the user, with the exit code of its class. */
export function asCliError(error: unknown): Error {
  if (error instanceof PlaneRefusal) return new CliError(error.message, exitCodeOf(error.code), { code: error.code });
  if (error instanceof PlaneAway) return new CliError(`${error.message}. Is meshd running there?`, EXIT.unavailable);
  if (error instanceof MeshError) return new CliError(error.message, exitCodeOf(error.code), { code: error.code });
  return error instanceof Error ? error : new Error(String(error));
}
