import type { Caller } from '../../base/caller.ts';
import { SYSTEM_WORKSPACE } from '../../base/ids.ts';
import { ROLE_SCOPES } from '../../base/scope.ts';
import { roleOf } from '../../identity/members.ts';
import type { NetworkServices } from '../../state/services.ts';

/**
 * Returns true if another account may review in the workspace: one that is not disabled, of a platform administrator or of a
 * member whose role may assess. Without one, people confirm their own access, and the review records that.
 */
export async function hasOtherReviewer(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  { id }: Pick<Caller, 'id'>,
): Promise<boolean> {
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Account');
  for (const account of items) {
    if (account.uid === id || account.spec.disabled) continue;
    if (account.spec.role === 'platform_admin') return true;
    const role = await roleOf(services, workspace, account);
    if (role && ROLE_SCOPES[role].has('compliance:assess')) return true;
  }
  return false;
}
