import type { AccountRecord } from '../identity/accounts.ts';
import { roleOf } from '../identity/members.ts';
import type { WorkspaceRecord } from '../identity/workspaces.ts';
import { SYSTEM_WORKSPACE } from '../ids.ts';
import { ROLE_SCOPES } from '../scope.ts';
import type { Services } from '../services.ts';
import type { Write } from './writes.ts';

type Reads = Pick<Services, 'store'>;

/**
 * The workspace whose approvers a batch has to be shown to: the one it is written in, or, for accounts, the first in which
 * the account could approve. Undefined where none of them has `requireApproval`.
 */
export async function concernedWorkspace(
  services: Reads,
  workspace: string,
  writes: readonly Write[],
): Promise<string | undefined> {
  if (workspace !== SYSTEM_WORKSPACE) {
    const record = await services.store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace);
    return record && asksForApproval(record as WorkspaceRecord) ? workspace : undefined;
  }
  for (const { kind, before, after } of writes) {
    if (kind === 'Workspace' && before && asksForApproval(before as WorkspaceRecord)) return before.uid;
    if (kind !== 'Account') continue;
    const accounts = [before, after].filter((record) => record !== undefined) as AccountRecord[];
    const concerned = await firstWithApprover(services, accounts);
    if (concerned !== undefined) return concerned;
  }
  return undefined;
}

async function firstWithApprover(services: Reads, accounts: readonly AccountRecord[]): Promise<string | undefined> {
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Workspace');
  const asking = (items as readonly WorkspaceRecord[]).filter(asksForApproval);
  if (accounts.some(({ spec }) => spec.role === 'platform_admin')) return asking[0]?.uid;
  for (const { uid } of asking) {
    for (const account of accounts) {
      const role = await roleOf(services, uid, account);
      if (role && ROLE_SCOPES[role].has('workflows:approve')) return uid;
    }
  }
  return undefined;
}

function asksForApproval({ spec }: WorkspaceRecord): boolean {
  return spec.settings.requireApproval;
}
