import { invalidInput, MeshError } from '../base/errors.ts';
import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { SecurityEvent } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import type { SignInRules } from '../model/sign-in-rules.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, type AccountSpec, findAccount } from './accounts.ts';
import { BUILT_IN_PASSWORD } from './first-accounts.ts';
import { requireGoodPassword, withPassword } from './password-rules.ts';
import { hashPassword } from './passwords.ts';

/** Type of the entry in the audit log where somebody else set the password of an account. */
export const PASSWORD_RESET = 'password_reset';
const ACTOR = 'system:operator';
const REASON = 'meshd reset-password';

/** A new initial password as a request to reset has it: never the password itself. */
export interface NewPassword {
  readonly username: string;
  /** argon2id, PHC string. */
  readonly passwordHash: string;
}

/**
 * Returns a password with its hash, for an account to begin anew with.
 *
 * @throws MeshError `invalid_input` where it is too easily found
 */
export async function newPassword(username: string, password: string, rules: SignInRules): Promise<NewPassword> {
  requireGoodPassword(password, username, '/password', rules);
  if (password === BUILT_IN_PASSWORD) {
    const detail = 'Choose a password that is not the built-in one.';
    throw invalidInput([{ pointer: '/password', detail }], detail);
  }
  return { username, passwordHash: await hashPassword(password) };
}

/**
 * Gives an account a new initial password, for whoever runs the host. Its sessions and API tokens end, its second factor
 * stays, and all that the password is good for is to choose another.
 *
 * @throws MeshError `not_found`; `conflict` where the account is disabled
 */
export async function resetPassword(
  { store, clock }: Pick<NetworkServices, 'store' | 'clock'>,
  { username, passwordHash }: NewPassword,
  rules: SignInRules,
): Promise<AccountRecord> {
  return serialized(store, SYSTEM_WORKSPACE, async () => {
    const account = await findAccount({ store }, username);
    if (!account) throw new MeshError('not_found', `There is no account ${username}.`);
    if (account.spec.disabled) {
      throw new MeshError('conflict', `The account ${account.name} is disabled: an administrator enables it first.`);
    }
    if (account.spec.issued) throw hasNoPassword(account.name);
    const initial = { passwordHash, passwordState: 'initial' } as const;
    const changed = withPassword(account.spec, initial, clock.now(), rules);
    const spec: AccountSpec = { ...changed, epoch: account.spec.epoch + 1 };
    const op = { op: 'update', record: { ...draftOf(account), spec }, revision: account.revision } as const;
    const securityEvents = [passwordResetEvent(account.name, ACTOR)];
    const why = { actor: ACTOR, reason: `${REASON} ${account.name}`, requestId: newId('r'), securityEvents };
    await store.commit(SYSTEM_WORKSPACE, [op], why);
    return account;
  });
}

export function hasNoPassword(username: string): MeshError {
  return new MeshError('conflict', `${username} has no password: an issuer signs this person in.`);
}

/** Returns the entry that says who set the password of whom. */
export function passwordResetEvent(account: string, actor: string, origin?: string): SecurityEvent {
  return { type: PASSWORD_RESET, actor, result: 'ok', ...(origin !== undefined && { origin }), detail: { account } };
}
