import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { ROLE_SCOPES, WORKSPACE_ROLES, type WorkspaceRole } from '../base/scope.ts';
import { serialized } from '../base/serialize.ts';
import { hasClaim, type IssuerRules } from '../model/issuers.ts';
import type { WorkspaceRecord } from '../model/workspaces.ts';
import type { NetworkServices, PeerServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import { mayApprove } from './approvers.ts';
import { endMembership } from './change-members.ts';
import { issuedMemberDraft, type MemberRecord, memberIn } from './members.ts';
import { heirIn } from './offboard.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Returns the roles that claims give, by the slugs of workspaces; of several in one, the one that decides most. */
export function grantedRoles({ grants }: IssuerRules, claims: Claims): ReadonlyMap<string, WorkspaceRole> {
  const roles = new Map<string, WorkspaceRole>();
  for (const grant of grants) {
    if (!hasClaim(claims, grant)) continue;
    const known = roles.get(grant.workspace);
    if (known === undefined || WORKSPACE_ROLES.indexOf(grant.role) > WORKSPACE_ROLES.indexOf(known)) {
      roles.set(grant.workspace, grant.role);
    }
  }
  return roles;
}

/**
 * Gives an account the memberships that its claims give, and ends those that they do not give any more with all that hangs on
 * them. What people decided about a member stays until the claims change.
 */
export async function keepIssuedMemberships(
  services: PeerServices & Pick<NetworkServices, 'log'>,
  account: AccountRecord,
  rules: IssuerRules,
  claims: Claims,
  context: CommitContext,
): Promise<void> {
  const granted = grantedRoles(rules, claims);
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Workspace');
  warnOfMissing(services, rules, new Set(items.map(({ spec }) => spec.slug)));
  for (const workspace of items) {
    const role = granted.get(workspace.spec.slug);
    if (role === undefined) await endIssued(services, workspace, account, rules, context);
    else await keepIssued(services, workspace, account, { issuer: rules.issuer, role }, context);
  }
}

/** Each grant is warned of once in a process, as people come often. */
const warnedOf = new WeakSet<object>();

export function warnOfMissing(
  { log }: Pick<NetworkServices, 'log'>,
  { name, grants }: { readonly name: string; readonly grants: readonly { readonly workspace: string }[] },
  workspaces: ReadonlySet<string>,
): void {
  for (const grant of grants) {
    if (workspaces.has(grant.workspace) || warnedOf.has(grant)) continue;
    warnedOf.add(grant);
    log.warn(
      { issuer: name, workspace: grant.workspace },
      'a grant of an issuer names a workspace that does not exist',
    );
  }
}

async function endIssued(
  services: PeerServices,
  { uid: workspace }: WorkspaceRecord,
  account: AccountRecord,
  { issuer, title }: IssuerRules,
  context: CommitContext,
): Promise<void> {
  const member = await memberIn(services, workspace, account);
  if (member?.spec.issued?.issuer !== issuer) return;
  const heir = await heirIn(services, workspace, { uid: account.uid });
  const reason = `removed member ${account.name}, whom the claims of ${title} let in no longer`;
  await endMembership(services, workspace, { name: account.name, account, heir }, { ...context, reason });
}

async function keepIssued(
  services: PeerServices,
  { uid: workspace, spec: { settings } }: WorkspaceRecord,
  account: AccountRecord,
  issued: NonNullable<MemberRecord['spec']['issued']>,
  context: CommitContext,
): Promise<void> {
  await serialized(services.store, workspace, async () => {
    const member = await memberIn(services, workspace, account);
    if (member && member.spec.issued?.issuer !== issued.issuer) return;
    if (member?.spec.issued?.role === issued.role) return;
    const role = settings.requireApproval ? withoutApproval(issued.role, member?.spec.role) : issued.role;
    const op: Op = member
      ? { op: 'update', record: { ...draftOf(member), spec: { role, issued } }, revision: member.revision }
      : { op: 'create', record: issuedMemberDraft(account, { role, issued }) };
    const withheld = role === issued.role ? '' : `; ${issued.role}, as its claims say, is for two persons to give`;
    await services.store.commit(workspace, [op], { ...context, reason: `made ${account.name} ${role}${withheld}` });
  });
}

/** Where a second person approves who decides, claims make nobody an approver: people do, and then the role stays. */
function withoutApproval(claimed: WorkspaceRole, held: WorkspaceRole | undefined): WorkspaceRole {
  if (!mayApprove(claimed)) return claimed;
  return held !== undefined && ROLE_SCOPES[held].isSubsetOf(ROLE_SCOPES[claimed]) ? held : 'viewer';
}
