import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { MeshError } from '../../core/base/errors.ts';
import { newId } from '../../core/base/ids.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import { type NewPassword, resetPassword } from '../../core/identity/reset-password.ts';
import type { SignInRules } from '../../core/model/sign-in-rules.ts';
import type { Services } from '../../core/workflow/services.ts';
import { type Job, later } from '../../plane/jobs.ts';
import { replaceOwned } from '../../storage/owned-file.ts';
import { directoryProblem, hasTrustedWriters } from './directory-writers.ts';

/** In the directory of a control plane, where its user and root alone can write: else no request is taken. */
const REQUEST = 'password-reset.json';
const ANSWER = 'password-reset.answer.json';
const EVERY_MS = 1_000;
/** An older request is ignored: its command has given up. */
const LASTING_MS = 60_000;
const MOST_BYTES = 4_096;

const requestSchema = z.strictObject({
  id: z.string().max(64),
  username: z.string().max(64),
  passwordHash: z.string().max(512).startsWith('$argon2id$'),
});
const answerSchema = z.strictObject({ id: z.string(), problem: z.string().optional() });

/**
 * Asks the meshd that runs in a directory to reset a password.
 *
 * @throws Error for a directory in which others can write
 */
export function askForReset(configDir: string, reset: NewPassword) {
  const id = newId('r');
  const [request, answer] = [REQUEST, ANSWER].map((name) => path.join(configDir, name)) as [string, string];
  const problem = directoryProblem(configDir);
  if (problem !== undefined) throw new Error(`Cannot reset a password: ${problem}.`);
  remove(answer);
  remove(request);
  replaceOwned(request, JSON.stringify({ id, ...reset }));
  return {
    /** Undefined before there is one; `problem` says why it was not done. */
    answer() {
      const given = read(answer, answerSchema)?.data;
      if (given?.id !== id) return undefined;
      remove(answer);
      return given;
    },
    withdraw: () => remove(request),
  };
}

/** Returns the job that does what was asked for in the directory of this control plane. */
export function resetRequestJob(configDir: string, { services, rules, clock, log }: ResetParts): Job {
  const [request, answer] = [REQUEST, ANSWER].map((name) => path.join(configDir, name)) as [string, string];
  return later('reset a password on request of the host', clock, { first: EVERY_MS, every: EVERY_MS }, async () => {
    if (!hasTrustedWriters(statSync(configDir))) return;
    const found = read(request, requestSchema, hasTrustedWriters);
    if (!found) return;
    remove(request);
    const { data, ageMs } = found;
    if (!data || ageMs > LASTING_MS) {
      log.warn(
        { file: request },
        'a request to reset a password is malformed, old or of another user, and was removed',
      );
      return;
    }
    const { id, ...reset } = data;
    const problem = await resetHere(reset).catch((error: unknown) => {
      if (error instanceof MeshError) return error.message;
      log.error({ err: error }, 'a password could not be reset');
      return 'The password could not be reset: see the log of meshd.';
    });
    remove(answer);
    replaceOwned(answer, JSON.stringify({ id, ...(problem !== undefined && { problem }) }));
  });

  async function resetHere(reset: NewPassword): Promise<undefined> {
    const { name } = await resetPassword(services, reset, rules);
    // Whoever forgot a password has tried others.
    await services.logins.lift(name);
    log.info({ account: name }, 'the host reset a password');
  }
}

interface ResetParts {
  readonly services: Pick<Services, 'store' | 'clock' | 'logins'>;
  readonly rules: SignInRules;
  readonly clock: Clock;
  readonly log: Log;
}

/** A directory too, which whoever may write here can have made in its place. */
function remove(file: string): void {
  rmSync(file, { force: true, recursive: true });
}

/** Undefined where no file is; without `data` where it is no such file as is expected. No link is followed. */
function read<T>(
  file: string,
  schema: z.ZodType<T>,
  isTrusted: (stat: Stats) => boolean = () => true,
): { readonly data: T | undefined; readonly ageMs: number } | undefined {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW = 0 } = constants;
  let handle: number;
  try {
    handle = openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : { data: undefined, ageMs: 0 };
  }
  try {
    const stat = fstatSync(handle);
    const ageMs = Date.now() - stat.mtimeMs;
    if (!stat.isFile() || stat.size > MOST_BYTES || !isTrusted(stat)) return { data: undefined, ageMs };
    return { data: schema.safeParse(JSON.parse(readFileSync(handle, 'utf8'))).data, ageMs };
  } catch {
    return { data: undefined, ageMs: 0 };
  } finally {
    closeSync(handle);
  }
}
