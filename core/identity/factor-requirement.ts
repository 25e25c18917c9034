import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import { roleOf } from './members.ts';

/** Returns true if an account must have a second factor and has none. */
export async function lacksSecondFactor(
  services: Pick<NetworkServices, 'store' | 'settings'>,
  account: AccountRecord,
): Promise<boolean> {
  if (services.settings.signIn.secondFactor === 'optional' || account.spec.secondFactor) return false;
  // Its issuer answers for how the person proves who they are.
  if (account.spec.issued) return false;
  return isAdministrator(services, account);
}

/** Returns true if an account administers the installation or a workspace. */
export async function isAdministrator(
  services: Pick<NetworkServices, 'store'>,
  account: AccountRecord,
): Promise<boolean> {
  if (account.spec.role === 'platform_admin') return true;
  for (const { uid } of (await services.store.list(SYSTEM_WORKSPACE, 'Workspace')).items) {
    if ((await roleOf(services, uid, account)) === 'admin') return true;
  }
  return false;
}
