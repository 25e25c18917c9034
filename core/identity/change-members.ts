import { commitContext } from '../commit-context.ts';
import { MeshError } from '../errors.ts';
import { SYSTEM_WORKSPACE } from '../ids.ts';
import type { CallContext } from '../operation.ts';
import { draftOf } from '../record.ts';
import type { WorkspaceRole } from '../scope.ts';
import type { Services } from '../services.ts';
import { type AccountRecord, normalizeUsername } from './accounts.ts';
import type { MemberRecord } from './members.ts';
import { requireSession } from './require-session.ts';
import { requireAccount } from './users.ts';

type Context = CallContext<Pick<Services, 'store'>>;

/** Makes an account a member, or changes the role it has. A changed role ends its sessions and API tokens. */
export async function setMember(username: string, role: WorkspaceRole, context: Context): Promise<MemberRecord> {
  requireSession(context.caller);
  const { services, workspace } = context;
  const account = await requireAccount(username, context);
  const member = await memberOf(account.name, context);
  if (member?.spec.role === role && member.uid === account.uid) return member;
  const commit = commitContext(context, `made ${account.name} ${role}`);
  const blank = { labels: {}, annotations: {}, status: {}, unique: [] };
  const record = { ...blank, kind: 'Member', name: account.name, uid: account.uid, spec: { role } } as const;
  if (member && member.uid !== account.uid) {
    // Left over from an account of the same name that is gone.
    await services.store.commit(workspace, [{ op: 'delete', key: { kind: 'Member', name: member.name } }], commit);
  }
  const known = member?.uid === account.uid ? member : undefined;
  const op = known
    ? ({ op: 'update', record: { ...draftOf(known), spec: { role } }, revision: known.revision } as const)
    : ({ op: 'create', record } as const);
  const { changes } = await services.store.commit(workspace, [op], commit);
  if (known) await endCredentials(account, context);
  return changes[0]?.record as MemberRecord;
}

/** Ends a membership. @throws MeshError `not_found` */
export async function removeMember(username: string, context: Context): Promise<void> {
  requireSession(context.caller);
  const { services, workspace } = context;
  const name = normalizeUsername(username);
  const member = await memberOf(name, context);
  if (!member) throw new MeshError('not_found', `${username} is no member of this workspace.`);
  const key = { kind: 'Member', name: member.name } as const;
  await services.store.commit(workspace, [{ op: 'delete', key }], commitContext(context, `removed member ${name}`));
  const account = (await services.store.getById(SYSTEM_WORKSPACE, 'Account', member.uid)) as AccountRecord | undefined;
  if (account) await endCredentials(account, context);
}

async function memberOf(name: string, { services, workspace }: Context): Promise<MemberRecord | undefined> {
  return (await services.store.get(workspace, { kind: 'Member', name })) as MemberRecord | undefined;
}

async function endCredentials(account: AccountRecord, context: Context): Promise<void> {
  const spec = { ...account.spec, epoch: account.spec.epoch + 1 };
  const op = { op: 'update', record: { ...draftOf(account), spec }, revision: account.revision } as const;
  const commit = commitContext(context, `ended the sessions of ${account.name}: its role changed`);
  await context.services.store.commit(SYSTEM_WORKSPACE, [op], commit);
}
