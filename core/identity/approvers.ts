import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { ROLE_SCOPES, type WorkspaceRole } from '../base/scope.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import { isOfOneAccount } from './members.ts';
import { accountsByPerson } from './persons.ts';

type Reads = Pick<NetworkServices, 'store'>;

export interface Approvers {
  /** Administrators of the platform, who are at home in every workspace. */
  readonly administrators: ReadonlySet<string>;
  readonly members: ReadonlySet<string>;
  /** Members of both sets who have signed in with a password of their own, or by an issuer, since they became approvers, one account of each person. Told to who may list accounts alone: it says which ones exist. */
  readonly signedIn: ReadonlySet<string>;
}

/** Returns the user names of those who may approve in a workspace, members without an account included. */
export async function approversOf({ store }: Reads, workspace: string): Promise<Approvers> {
  const [accounts, listed] = await Promise.all([
    store.list(SYSTEM_WORKSPACE, 'Account'),
    store.list(workspace, 'Member'),
  ]);
  const active = new Map(accounts.items.flatMap((one) => (one.spec.disabled ? [] : [[one.name, one] as const])));
  const administrators = [...active.values()].filter(({ spec }) => spec.role === 'platform_admin');
  const members = listed.items.filter(({ spec }) => mayApprove(spec.role));
  const signedIn = [
    ...administrators.filter((account) => hasSignedInSince(account, account.createdAt)),
    ...members.filter((member) => {
      const account = active.get(member.name);
      if (!account || (isOfOneAccount(member) && member.uid !== account.uid)) return false;
      return hasSignedInSince(account, member.createdAt);
    }),
  ];
  // Administrators come first, and stay where one person has two accounts.
  const persons = accountsByPerson(accounts.items);
  const counted = new Set<string>();
  const onePerPerson = signedIn.filter(({ name }) => {
    const uid = active.get(name)?.uid ?? name;
    if (counted.has(uid)) return false;
    for (const own of persons.get(uid) ?? [uid]) counted.add(own);
    return true;
  });
  return {
    administrators: namesOf(administrators),
    members: namesOf(members),
    signedIn: namesOf(onePerPerson),
  };
}

/** Returns whether at most one person could approve in a workspace. Who has yet to sign in as one does not count. */
export async function isOnlyApprover(services: Reads, workspace: string): Promise<boolean> {
  return (await approversOf(services, workspace)).signedIn.size <= 1;
}

/**
 * Returns what becoming an approver changes for a single one who approves their own requests; undefined where it changes
 * nothing. The words do not depend on whether there is such an account.
 *
 * @param name user name of the new approver
 */
export async function approverNotice(
  services: Reads,
  workspace: string,
  name: string,
  role: WorkspaceRole,
): Promise<string | undefined> {
  const before = await services.store.get(workspace, { kind: 'Member', name });
  if (!mayApprove(role) || (before && mayApprove(before.spec.role))) return undefined;
  const { settings } = (await workspaceById(services, workspace)).spec;
  const others = (await approversOf(services, workspace)).signedIn.difference(new Set([name]));
  if (settings.selfApproval !== undefined || others.size > 1) return undefined;
  return `Once ${name} signs in from now on, ${HOW}, this workspace has two approvers: ${NO_MORE}`;
}

/** Returns the same for an account that becomes a platform administrator, who approves in every workspace. */
export function administratorNotice(name: string): string {
  return `Once ${name} signs in from now on, ${HOW}, it is an approver in every workspace. Where there is a single one today, ${NO_MORE}`;
}

/** No word of which it is, for that says whether there is such an account. */
const HOW = 'with a password of their own or by an issuer';

const NO_MORE =
  'nobody approves their own requests any more, and weaker approval settings need the approval of the other person, unless selfApproval is on. Until then nothing changes.';

export function mayApprove(role: WorkspaceRole): boolean {
  return Object.hasOwn(ROLE_SCOPES, role) && ROLE_SCOPES[role].has('workflows:approve');
}

/** An account that an earlier version stored does not say when it signed in, and counts. */
function hasSignedInSince({ spec: { signedInAt } }: AccountRecord, since: number): boolean {
  return signedInAt === undefined || signedInAt >= since;
}

function namesOf(records: readonly { readonly name: string }[]): ReadonlySet<string> {
  return new Set(records.map(({ name }) => name));
}
