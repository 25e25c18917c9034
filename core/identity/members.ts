import type { StoredRecord } from '../record.ts';
import { ROLE_SCOPES, type WorkspaceRole } from '../scope.ts';
import type { Services } from '../services.ts';

/** A membership is in the partition of its workspace, named by the user name; its uid is the uid of the account. */
interface MemberSpec {
  readonly role: WorkspaceRole;
}

export type MemberRecord = StoredRecord<MemberSpec, Record<string, never>>;

/** The role of an account in a workspace; undefined where it is no member. */
export async function roleIn(
  { store }: Pick<Services, 'store'>,
  workspace: string,
  account: string,
): Promise<WorkspaceRole | undefined> {
  const member = (await store.getById(workspace, 'Member', account)) as MemberRecord | undefined;
  // A role that this version does not know grants nothing.
  return member && Object.hasOwn(ROLE_SCOPES, member.spec.role) ? member.spec.role : undefined;
}
