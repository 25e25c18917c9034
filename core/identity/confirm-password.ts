import { invalidInput } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { LoginAttempt } from '../model/services.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import { lockEvents } from './lock-events.ts';
import { verifyPassword } from './passwords.ts';

/**
 * Asks a signed-in person for the password again. It counts as an attempt to log in until what it is for succeeded.
 *
 * @throws MeshError `invalid_input` naming the field; `rate_limited`
 */
export async function confirmPassword(
  account: AccountRecord,
  password: string,
  pointer: string,
  { services, origin, requestId }: CallContext<Pick<NetworkServices, 'store' | 'logins'>>,
): Promise<LoginAttempt> {
  const attempt = services.logins.attempt(origin, account.name, account.spec.knownSources ?? []);
  if (await verifyPassword(password, account.spec.passwordHash)) return attempt;
  const events = lockEvents(attempt, account.name, origin).map((event) => ({ ...event, requestId }));
  if (events.length > 0) await services.store.record(SYSTEM_WORKSPACE, events);
  const detail = 'This is not the current password.';
  throw invalidInput([{ pointer, detail }], detail);
}
