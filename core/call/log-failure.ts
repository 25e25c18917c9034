import { CallerDisconnected } from '../base/caller-disconnected.ts';
import { MeshError, type Problem } from '../base/errors.ts';
import type { Log } from '../base/ports.ts';

/**
 * The line of a request that was not served: what the caller did wrong, or did not wait for, at info, what went wrong here
 * at error, with its cause. Both have the code, and the id that the caller was shown.
 */
export function logFailure(
  log: Pick<Log, 'info' | 'error'>,
  error: unknown,
  { status, code, requestId }: Problem,
  fields: Readonly<Record<string, unknown>>,
): void {
  const told = { requestId, ...fields, status, code };
  if (error instanceof CallerDisconnected) log.info(told, 'the caller has gone');
  else if (status < 500) log.info(told, 'request refused');
  else log.error({ ...told, err: error instanceof MeshError ? (error.cause ?? error) : error }, 'request failed');
}
