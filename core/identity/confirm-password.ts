import { invalidInput } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { LoginAttempt } from '../model/services.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import { lockEvents } from './lock-events.ts';
import { tryPassword } from './try-password.ts';

/**
 * Asks a signed-in person for the password again. It counts as an attempt to log in until what it is for succeeded.
 *
 * @throws MeshError `invalid_input` naming the field; `rate_limited`
 */
export async function confirmPassword(
  account: AccountRecord,
  password: string,
  pointer: string,
  context: CallContext<Pick<NetworkServices, 'store' | 'logins' | 'keys'>>,
): Promise<LoginAttempt> {
  if (account.spec.issued) {
    const detail = 'This account has no password: an issuer signs you in, and asks for a second factor.';
    throw invalidInput([{ pointer, detail }], detail);
  }
  const { services, origin, requestId } = context;
  const { attempt, matches } = await tryPassword(
    { account, username: account.name, password, isSignedIn: true },
    context,
  );
  if (matches) return attempt;
  const events = lockEvents(attempt, account.name, origin).map((event) => ({ ...event, requestId }));
  if (events.length > 0) await services.store.record(SYSTEM_WORKSPACE, events);
  const detail = 'This is not the current password.';
  throw invalidInput([{ pointer, detail }], detail);
}
