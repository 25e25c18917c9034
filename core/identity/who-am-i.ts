import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { Role, Scope } from '../base/scope.ts';
import type { WorkspaceRecord } from '../model/workspaces.ts';
import type { NetworkServices, StoreCall } from '../state/services.ts';
import { type AccountRecord, accountById } from './accounts.ts';
import { roleOf } from './members.ts';

export interface Membership {
  readonly workspace: WorkspaceRecord;
  readonly role: Role;
  /** Scopes of the present token in that workspace. */
  readonly scopes: ReadonlySet<Scope>;
}

/** The account behind a call and where it is a member. */
export async function whoAmI({ services, caller }: StoreCall): Promise<{
  readonly account: AccountRecord;
  readonly caller: Caller;
  readonly memberships: readonly Membership[];
}> {
  const account = await accountById(services, caller.id);
  if (!account) throw new MeshError('unauthenticated', 'This account was removed.');
  const memberships: Membership[] = [];
  for (const workspace of await workspacesOf(services, caller)) {
    const role =
      account.spec.role === 'platform_admin' ? 'platform_admin' : await roleOf(services, workspace.uid, account);
    if (role) memberships.push({ workspace, role, scopes: caller.scopesIn(workspace.uid) });
  }
  return { account, caller, memberships };
}

/** The workspaces that a caller is a member of. */
export async function workspacesOf(
  { store }: Pick<NetworkServices, 'store'>,
  caller: Caller,
): Promise<readonly WorkspaceRecord[]> {
  const { items } = await store.list(SYSTEM_WORKSPACE, 'Workspace');
  const all = items;
  if (caller.workspaces === 'all') return all;
  const own = new Set(caller.workspaces);
  return all.filter(({ uid }) => own.has(uid));
}
