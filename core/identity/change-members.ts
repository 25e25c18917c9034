import { commitContext } from '../commit-context.ts';
import { invalidInput, MeshError } from '../errors.ts';
import type { CallContext } from '../operation.ts';
import type { Op } from '../ports.ts';
import { draftOf } from '../record.ts';
import type { WorkspaceRole } from '../scope.ts';
import type { Services } from '../services.ts';
import { findAccount, normalizeUsername, USERNAME_PATTERN } from './accounts.ts';
import { isOfOneAccount, type MemberRecord, memberDraft } from './members.ts';
import { requireSession } from './require-session.ts';
import { tokensOf } from './token-lists.ts';

type Context = CallContext<Pick<Services, 'store'>>;

/**
 * Makes who has this user name a member, or changes the role it has, in this workspace and nowhere else. Accounts are
 * not looked at: the work and the answer are the same whether or not there is one.
 */
export async function setMember(username: string, role: WorkspaceRole, context: Context): Promise<MemberRecord> {
  requireSession(context.caller);
  const { store } = context.services;
  const name = normalizeUsername(username);
  if (!USERNAME_PATTERN.test(name)) throw noUsername();
  const member = await memberOf(name, context);
  if (member?.spec.role === role && !isOfOneAccount(member)) return member;
  const commit = commitContext(context, `made ${name} ${role}`);
  const { changes } = await store.commit(context.workspace, setOps(name, role, member), commit);
  return changes.at(-1)?.record as MemberRecord;
}

function setOps(name: string, role: WorkspaceRole, member: MemberRecord | undefined): readonly Op[] {
  if (!member) return [{ op: 'create', record: memberDraft(name, role) }];
  const { revision } = member;
  if (!isOfOneAccount(member)) return [{ op: 'update', record: { ...draftOf(member), spec: { role } }, revision }];
  const key = { kind: 'Member', name: member.name } as const;
  return [
    { op: 'delete', key, revision },
    { op: 'create', record: memberDraft(name, role) },
  ];
}

/**
 * Ends a membership and, with it, the API tokens that its account has in this workspace. Sessions go on elsewhere.
 *
 * @throws MeshError `not_found`
 */
export async function removeMember(username: string, context: Context): Promise<void> {
  requireSession(context.caller);
  const name = normalizeUsername(username);
  if (!(await memberOf(name, context))) {
    throw new MeshError('not_found', `${username} is no member of this workspace.`);
  }
  const commit = commitContext(context, `removed member ${name}`);
  await context.services.store.commit(context.workspace, await removeMemberOps(name, context), commit);
}

/** What ends the membership of a user name, to be committed in the workspace of the context; empty where there is none. */
export async function removeMemberOps(name: string, context: Pick<Context, 'services' | 'workspace'>): Promise<Op[]> {
  const { services, workspace } = context;
  const member = await memberOf(name, context);
  if (!member) return [];
  const account = await findAccount(services, name);
  const tokens = await tokensOf(services, workspace, 'api');
  return [
    { op: 'delete', key: { kind: 'Member', name: member.name } },
    ...tokens
      .filter(({ spec }) => spec.owner === account?.uid)
      .map((token): Op => ({ op: 'delete', key: { kind: 'Token', name: token.name } })),
  ];
}

async function memberOf(name: string, { services, workspace }: Pick<Context, 'services' | 'workspace'>) {
  return (await services.store.get(workspace, { kind: 'Member', name })) as MemberRecord | undefined;
}

function noUsername(): MeshError {
  const detail =
    'A user name has 1 to 63 of the letters a to z, digits and . _ @ + -, and begins and ends with a letter or digit.';
  return invalidInput([{ pointer: '/username', detail }], detail);
}
