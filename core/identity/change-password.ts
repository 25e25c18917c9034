import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import { draftOf } from '../base/record.ts';
import { requireSession } from '../base/require-session.ts';
import type { NetworkServices } from '../state/services.ts';
import { accountById } from './accounts.ts';
import { confirmPassword } from './confirm-password.ts';
import { BUILT_IN_PASSWORD } from './first-accounts.ts';
import { requireGoodPassword, requireUnusedPassword, withPassword } from './password-rules.ts';
import { hashPassword } from './passwords.ts';
import { firstSignIn } from './sessions.ts';

/** Changes the caller's password, which ends every session and API token of the account. */
export async function changePassword(
  { oldPassword, newPassword }: { readonly oldPassword: string; readonly newPassword: string },
  context: CallContext<Pick<NetworkServices, 'store' | 'clock' | 'keys' | 'logins' | 'settings'>>,
): Promise<void> {
  const { services, origin } = context;
  const rules = services.settings.signIn;
  const caller = requireSession(context.caller);
  const account = await accountById(services, caller.id);
  if (!account) throw new MeshError('unauthenticated', 'This account was removed.');
  const attempt = await confirmPassword(account, oldPassword, '/oldPassword', context);
  // Taken back, not forgiven: who knows the password is not to try codes of the second factor anew by it.
  await attempt.passed();
  if (newPassword === oldPassword || newPassword === BUILT_IN_PASSWORD) {
    const detail = 'Choose a password that is not the old or the built-in one.';
    throw invalidInput([{ pointer: '/newPassword', detail }], detail);
  }
  requireGoodPassword(newPassword, account.name, '/newPassword', rules);
  await requireUnusedPassword(newPassword, account, '/newPassword', rules);
  const own = { passwordHash: await hashPassword(newPassword), passwordState: 'own' as const };
  const changed = withPassword(account.spec, own, services.clock.now(), rules);
  const signedIn = await firstSignIn(services, { ...account, spec: changed });
  const spec = { ...changed, ...signedIn, epoch: account.spec.epoch + 1 };
  const event = { type: 'password_change', actor: caller.subject, result: 'ok', origin } as const;
  await services.store.commit(
    SYSTEM_WORKSPACE,
    [{ op: 'update', record: { ...draftOf(account), spec }, revision: account.revision }],
    commitContext(context, 'changed the password', { securityEvents: [event] }),
  );
}
