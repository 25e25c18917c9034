import type { Caller } from '../../base/caller.ts';
import { SYSTEM_WORKSPACE } from '../../base/ids.ts';
import { ROLE_SCOPES } from '../../base/scope.ts';
import { roleOf } from '../../identity/members.ts';
import type { NetworkServices } from '../../state/services.ts';

/**
 * Whether anybody but the caller may review in a workspace: an account that is not disabled, of a platform administrator or
 * of a member whose role may assess. Where nobody else may, people confirm what they hold themselves, and the review says so.
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
