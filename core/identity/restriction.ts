import type { Restriction } from '../base/caller.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import { lacksSecondFactor } from './factor-requirement.ts';
import { isPasswordOld } from './password-rules.ts';

/**
 * Returns what a person has to see to before anything else; undefined where a session is good for all that they may.
 *
 * @param since when the session began, ms: how old a password is counts then, and nobody is interrupted
 */
export async function restrictionOf(
  services: Pick<NetworkServices, 'store' | 'settings'>,
  account: AccountRecord,
  since: number,
): Promise<Restriction | undefined> {
  if (account.spec.passwordState !== 'own') return 'initial password';
  if (isPasswordOld(account, since, services.settings.signIn)) return 'old password';
  return (await lacksSecondFactor(services, account)) ? 'no second factor' : undefined;
}
