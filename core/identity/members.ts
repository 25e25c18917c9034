import { newId } from '../base/ids.ts';
import type { NoStatus, RecordDraft, StoredRecord } from '../base/record.ts';
import { ROLE_SCOPES, type WorkspaceRole } from '../base/scope.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, accountById } from './accounts.ts';

/**
 * A membership is in the partition of its workspace and named by the user name. It stands whether or not there is such
 * an account, so that nobody learns from it which accounts exist; an account made later has it from its first login.
 */
interface MemberSpec {
  readonly role: WorkspaceRole;
  /** Present where claims of an issuer gave the membership, which ends with them. Such a membership is of one account alone. */
  readonly issued?: IssuedMembership;
}

interface IssuedMembership {
  /** Identifier of the issuer. */
  readonly issuer: string;
  /** The role that claims gave last; a person may have chosen another one since. */
  readonly role: WorkspaceRole;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    Member: { spec: MemberSpec; status: NoStatus };
  }
}

export type MemberRecord = StoredRecord<'Member'>;

/** Memberships that claims gave, or that were stored before they were made by name, carry the uid of their account. */
const ACCOUNT_UID = /^u_/;

export function memberDraft(username: string, role: WorkspaceRole): RecordDraft<'Member'> {
  const blank = { labels: {}, annotations: {}, status: {}, unique: [] };
  return { ...blank, kind: 'Member', name: username, uid: newId('mem'), spec: { role } };
}

/** The membership of an account by the claims of an issuer. */
export function issuedMemberDraft({ name, uid }: AccountRecord, spec: MemberSpec): RecordDraft<'Member'> {
  return { ...memberDraft(name, spec.role), uid, spec };
}

/** Returns true if a membership belongs to one account alone, and not to a later account of its name. */
export function isOfOneAccount({ uid }: MemberRecord): boolean {
  return ACCOUNT_UID.test(uid);
}

/** The membership of an account in a workspace. */
export async function memberIn(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  { name, uid }: AccountRecord,
): Promise<MemberRecord | undefined> {
  const member = await store.get(workspace, { kind: 'Member', name });
  return member && isOfOneAccount(member) && member.uid !== uid ? undefined : member;
}

/** The role of an account in a workspace; undefined where it is no member. */
export async function roleOf(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  account: AccountRecord,
): Promise<WorkspaceRole | undefined> {
  const member = await memberIn(services, workspace, account);
  // A role that this version does not know grants nothing.
  return member && Object.hasOwn(ROLE_SCOPES, member.spec.role) ? member.spec.role : undefined;
}

/** As `roleOf`, by the uid of the account. */
export async function roleIn(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  uid: string,
): Promise<WorkspaceRole | undefined> {
  const account = await accountById(services, uid);
  return account && roleOf(services, workspace, account);
}
