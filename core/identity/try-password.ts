import type { LoginAttempt } from '../model/services.ts';
import { sourceSite } from '../model/source-network.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import { isFirstLogin } from './first-accounts.ts';
import { loginSource } from './login-limits.ts';
import { isKnownSource } from './login-locks.ts';
import { verifyPassword } from './passwords.ts';

export interface PasswordAttempt {
  readonly account: AccountRecord | undefined;
  readonly username: string;
  readonly password: string;
  readonly isSignedIn?: boolean;
}

export interface PasswordResult {
  readonly attempt: LoginAttempt;
  readonly matches: boolean;
}

/**
 * Tries a password for an account, or for a name that has none. It counts as a failed attempt until the caller says otherwise.
 *
 * @throws MeshError `rate_limited`, without counting, where the attempt came to no judgement
 */
export async function tryPassword(
  { account, username, password, isSignedIn = false }: PasswordAttempt,
  {
    services: { logins, keys },
    origin,
  }: { readonly services: Pick<NetworkServices, 'logins' | 'keys'>; readonly origin: string },
): Promise<PasswordResult> {
  const knownSources = account && (account.spec.knownSources ?? []);
  const attempt = await logins.attempt(origin, username, knownSources);
  const isKnown = isSignedIn || isKnownSource(loginSource(origin), knownSources);
  const asker = { isKnown, source: sourceSite(origin) };
  const isHashed = await judging(attempt, () => verifyPassword(password, account?.spec.passwordHash, asker));
  const matches = isHashed || (account !== undefined && isFirstLogin(account, password, keys));
  return { attempt, matches };
}

/** Takes an attempt back where what is to judge it, or to let in who passed, fails: it was no wrong guess. */
export async function judging<T>(attempt: LoginAttempt, judge: () => Promise<T>): Promise<T> {
  try {
    return await judge();
  } catch (error) {
    await attempt.passed();
    throw error;
  }
}
