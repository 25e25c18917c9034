import type { AccountRecord } from '../identity/accounts.ts';
import type { MemberRecord } from '../identity/members.ts';
import { workspaceById } from '../identity/workspaces.ts';
import { SYSTEM_WORKSPACE } from '../ids.ts';
import { ROLE_SCOPES } from '../scope.ts';
import type { Services } from '../services.ts';

/**
 * Whether a person may approve what they asked for themselves: where the workspace says so, else only while nobody else could
 * (DESIGN 5.5), so that an installation of one person works.
 */
export async function mayApproveOwn(services: Pick<Services, 'store'>, workspace: string): Promise<boolean> {
  const { settings } = (await workspaceById(services, workspace)).spec;
  const { selfApproval, requireApproval } = settings;
  // Where even the settings need approval, a single approver who may not could never be let in again.
  if (selfApproval !== undefined && !(requireApproval && !selfApproval)) return selfApproval;
  return (await approvers(services, workspace)).size <= 1;
}

/** User names of who may approve in a workspace. A member without an account counts too: nobody is told which these are. */
async function approvers({ store }: Pick<Services, 'store'>, workspace: string): Promise<ReadonlySet<string>> {
  const [accounts, members] = await Promise.all([
    store.list(SYSTEM_WORKSPACE, 'Account'),
    store.list(workspace, 'Member'),
  ]);
  const active = (accounts.items as readonly AccountRecord[]).filter(({ spec }) => !spec.disabled);
  const names = new Set(active.filter(({ spec }) => spec.role === 'platform_admin').map(({ name }) => name));
  for (const { name, spec } of members.items as readonly MemberRecord[]) {
    const approves = Object.hasOwn(ROLE_SCOPES, spec.role) && ROLE_SCOPES[spec.role].has('workflows:approve');
    if (approves) names.add(name);
  }
  return names;
}
