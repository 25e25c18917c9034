import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import { isLoopback, plainAddress } from '../base/origin.ts';
import type { SecurityEvent } from '../base/ports.ts';
import type { NetworkServices } from '../state/services.ts';
import { findAccount, normalizeUsername } from './accounts.ts';
import { verifyPassword } from './passwords.ts';
import { createSession } from './sessions.ts';

/**
 * Exchanges a password for a session.
 *
 * @throws MeshError `unauthenticated`, in the same time and words for a wrong name and a wrong password; `rate_limited`.
 */
export async function logIn(
  { username, password }: { readonly username: string; readonly password: string },
  context: CallContext<Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'logins'>>,
): Promise<{ readonly token: string; readonly expiresAt: number; readonly passwordChangeRequired: boolean }> {
  const { services, origin, requestId } = context;
  const succeeded = services.logins.attempt(origin, normalizeUsername(username));
  const account = await findAccount(services, username);
  const matches = await verifyPassword(password, account?.spec.passwordHash);
  const refusal = refusalOf();
  const event: SecurityEvent = {
    type: 'login',
    actor: account ? `user:${account.name}` : 'anonymous',
    result: refusal ? 'refused' : 'ok',
    origin: plainAddress(origin),
  };
  if (refusal || !account) {
    await services.store.record(SYSTEM_WORKSPACE, [{ ...event, requestId }]);
    throw refusal;
  }
  const commit = {
    ...commitContext(context, 'logged in', { securityEvents: [event] }),
    actor: event.actor,
  };
  const session = await createSession(services, account, commit);
  succeeded();
  return { ...session, passwordChangeRequired: account.spec.passwordState !== 'own' };

  function refusalOf(): MeshError | undefined {
    if (!account || !matches || account.spec.disabled) {
      return new MeshError('unauthenticated', 'The user name or the password is wrong.');
    }
    if (account.spec.passwordState === 'built-in' && !isLoopback(origin)) {
      return new MeshError(
        'forbidden',
        'The built-in password works from the control plane itself only: change it there, or set app.initAdmins.',
      );
    }
    return undefined;
  }
}
