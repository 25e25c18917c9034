import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import { plainAddress } from '../base/origin.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { requireSession } from '../base/require-session.ts';
import { serialized } from '../base/serialize.ts';
import { writtenRecord } from '../base/written-record.ts';
import type { NetworkServices, PeerCall, PeerServices, StoreCall } from '../state/services.ts';
import { type AccountRecord, type AccountRole, type AccountSpec, accountDraft, findAccount } from './accounts.ts';
import { finishLeaving } from './leave.ts';
import { requireOther } from './offboard.ts';
import { type Leftover, leftoversEverywhere } from './offboarding-preview.ts';
import { requireGoodPassword, withPassword } from './password-rules.ts';
import { hashPassword } from './passwords.ts';
import { hasNoPassword, passwordResetEvent } from './reset-password.ts';

type UserCall = CallContext<PeerServices & Pick<NetworkServices, 'settings'>>;

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly displayName: string;
  readonly role: AccountRole;
}

/** Creates an account whose password its person is asked to change. */
export async function createUser(
  user: NewUser,
  context: CallContext<Pick<NetworkServices, 'store' | 'clock' | 'settings'>>,
): Promise<AccountRecord> {
  requireSession(context.caller);
  const { settings, clock } = context.services;
  requireGoodPassword(user.password, user.username, '/password', settings.signIn);
  const { username, displayName, role } = user;
  if (await findAccount(context.services, username)) throw taken(username);
  const passwordHash = await hashPassword(user.password);
  const password = { passwordHash, passwordState: 'initial', passwordChangedAt: clock.now() } as const;
  const spec: AccountSpec = { displayName, role, disabled: false, epoch: 1, signedInAt: 0, ...password };
  const record = accountDraft(username, spec);
  const commit = commitContext(context, `created account ${record.name}`);
  const done = await context.services.store.commit(SYSTEM_WORKSPACE, [{ op: 'create', record }], commit);
  return writtenRecord(done, record);
}

/** Fields that are absent stay as they are. */
export interface UserPatch {
  readonly displayName?: string | undefined;
  readonly role?: AccountRole | undefined;
  readonly disabled?: boolean | undefined;
  readonly password?: string | undefined;
}

/**
 * Changes an account. A new role or password, or disabling it, ends its sessions and API tokens.
 *
 * @throws MeshError `forbidden` for one's own password
 */
export async function updateUser(username: string, patch: UserPatch, context: UserCall): Promise<AccountRecord> {
  requireSession(context.caller);
  // Whoever is changed may write to their account meanwhile.
  const written = await serialized(context.services.store, SYSTEM_WORKSPACE, () => change(username, patch, context));
  if (written.isLeaving) await finishLeaving(context.services, written.account, leftContext(written.account, context));
  return written.account;
}

async function change(
  username: string,
  patch: UserPatch,
  context: UserCall,
): Promise<{ readonly account: AccountRecord; readonly isLeaving: boolean }> {
  const account = await requireSettled(username, context);
  if (patch.password !== undefined && account.uid === context.caller.id) {
    // Whoever got hold of a session is not to take the account over with it.
    throw new MeshError(
      'forbidden',
      'Your own password takes the old one: mesh passwd, or PUT /api/v1/users/me/password.',
    );
  }
  if (patch.password !== undefined && account.spec.issued) throw hasNoPassword(account.name);
  const { displayName = account.spec.displayName, role = account.spec.role, disabled = account.spec.disabled } = patch;
  const ends = patch.password !== undefined || role !== account.spec.role || disabled !== account.spec.disabled;
  const epoch = account.spec.epoch + (ends ? 1 : 0);
  const { successor: _, ...kept } = await withInitialPassword(patch.password, account, context);
  const isLeaving = disabled && !account.spec.disabled;
  const leaving = { to: 'disabled', since: context.services.clock.now() } as const;
  const { disabledBy: _by, ...left } = kept;
  const spec: AccountSpec = {
    ...(patch.disabled === undefined ? kept : left),
    displayName,
    role,
    disabled,
    epoch,
    ...(isLeaving && { leaving }),
  };
  const guards = isAdmin(account) && (role !== 'platform_admin' || disabled) ? await otherAdmin(account, context) : [];
  const ops: Op[] = [{ op: 'update', record: { ...draftOf(account), spec }, revision: account.revision }, ...guards];
  const reset = passwordResetEvent(account.name, context.caller.subject, plainAddress(context.origin));
  const events = patch.password === undefined ? {} : { securityEvents: [reset] };
  const commit = commitContext(context, `changed account ${account.name}`, events);
  const done = await context.services.store.commit(SYSTEM_WORKSPACE, ops, commit);
  return { account: writtenRecord(done, account), isLeaving };
}

/**
 * Removes an account with its memberships and all that hangs on it; a successor takes its agents over where it is a member.
 * What it did stays in the audit log under its name.
 */
export async function deleteUser(username: string, successor: string | undefined, context: PeerCall): Promise<void> {
  requireSession(context.caller);
  // Whoever is deleted may write to their account meanwhile.
  const { leaving, why } = await serialized(context.services.store, SYSTEM_WORKSPACE, () =>
    beginDeletion(username, successor, context),
  );
  await finishLeaving(context.services, leaving, why);
}

/**
 * Returns what would become of what an account leaves in all workspaces, once it is disabled or deleted.
 *
 * @throws MeshError `not_found` for the account or its successor
 */
export async function previewLeaving(
  username: string,
  successor: string | undefined,
  context: PeerCall,
): Promise<Leftover[]> {
  requireSession(context.caller);
  const account = await requireAccount(username, context);
  if (successor !== undefined) requireOther(successor, account.name);
  const heir = successor === undefined ? undefined : await requireAccount(successor, context);
  return leftoversEverywhere(context.services, account, heir?.uid);
}

/** Disabled first: what needs a second person is known before anything has gone, and nobody acts in between. */
async function beginDeletion(
  username: string,
  successor: string | undefined,
  context: PeerCall,
): Promise<{ readonly leaving: AccountRecord; readonly why: CommitContext }> {
  const { store, clock } = context.services;
  const account = await requireAccount(username, context);
  if (account.uid === context.caller.id) {
    throw new MeshError('conflict', 'You cannot delete the account that you are logged in with.');
  }
  const guards = isAdmin(account) ? await otherAdmin(account, context) : [];
  if (successor !== undefined) requireOther(successor, account.name);
  const heir = successor === undefined ? undefined : await requireAccount(successor, context);
  // Whom an earlier call named that was cut short is not who takes over now.
  const { successor: _, ...kept } = account.spec;
  const spec: AccountSpec = {
    ...kept,
    disabled: true,
    epoch: account.spec.epoch + 1,
    leaving: { to: 'deleted', since: clock.now() },
    ...(heir && { successor: heir.uid }),
  };
  const disable: Op = { op: 'update', record: { ...draftOf(account), spec }, revision: account.revision };
  const agents = heir ? `, and gave its agents to ${heir.name}` : '';
  const why = commitContext(context, `deleted account ${account.name}${agents}`);
  return { leaving: writtenRecord(await store.commit(SYSTEM_WORKSPACE, [disable, ...guards], why), account), why };
}

/** An account of which nothing is left unfinished. @throws MeshError `not_found` where it was about to be deleted, too */
async function requireSettled(username: string, context: PeerCall): Promise<AccountRecord> {
  const account = await requireAccount(username, context);
  if (!account.spec.leaving) return account;
  await finishLeaving(context.services, account, { ...leftContext(account, context), decided: 'earlier' });
  return requireAccount(username, context);
}

function leftContext({ name }: AccountRecord, context: PeerCall): CommitContext {
  return commitContext(context, `${name} left`);
}

/** @throws MeshError `not_found` */
export async function requireAccount(username: string, context: StoreCall): Promise<AccountRecord> {
  const account = await findAccount(context.services, username);
  if (!account) throw new MeshError('not_found', `There is no account ${username}.`);
  return account;
}

/**
 * Returns the ops that disable an account at once, where its person has left the directory of its issuer; `finishLeaving` ends
 * the rest. None where it is disabled.
 *
 * @throws MeshError `conflict` for the last platform administrator
 */
export async function leavingOps(
  account: AccountRecord,
  services: Pick<PeerServices, 'store' | 'clock'>,
): Promise<readonly Op[]> {
  if (account.spec.disabled) return [];
  const { successor: _, ...kept } = account.spec;
  const spec: AccountSpec = {
    ...kept,
    disabled: true,
    disabledBy: 'directory',
    epoch: kept.epoch + 1,
    leaving: { to: 'disabled', since: services.clock.now() },
  };
  const guards = isAdmin(account) ? await otherAdmin(account, { services }) : [];
  return [{ op: 'update', record: { ...draftOf(account), spec }, revision: account.revision }, ...guards];
}

function isAdmin({ spec }: AccountRecord): boolean {
  return spec.role === 'platform_admin' && !spec.disabled;
}

/** Holds the commit to another administrator staying one, so that two cannot remove each other at once. */
async function otherAdmin(account: AccountRecord, { services }: Pick<StoreCall, 'services'>): Promise<Op[]> {
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Account');
  const other = items.find((one) => one.uid !== account.uid && isAdmin(one));
  if (!other) {
    throw new MeshError('conflict', `${account.name} is the last platform administrator: make another one first.`);
  }
  return [{ op: 'check', key: { kind: 'Account', name: other.name }, revision: other.revision }];
}

async function withInitialPassword(
  password: string | undefined,
  { name, spec }: AccountRecord,
  { services: { settings, clock } }: UserCall,
): Promise<AccountSpec> {
  if (password === undefined) return spec;
  requireGoodPassword(password, name, '/password', settings.signIn);
  const initial = { passwordHash: await hashPassword(password), passwordState: 'initial' as const };
  return withPassword(spec, initial, clock.now(), settings.signIn);
}

function taken(username: string): MeshError {
  return new MeshError('conflict', `There is an account ${username} already: choose another name.`);
}

/** Words that stand in the place of a user name in paths. */
const RESERVED = new Set(['me', 'login', 'logout']);

/** @throws MeshError `invalid_input` */
export function requireFreeWord(username: string): void {
  if (!RESERVED.has(username)) return;
  const detail = `${username} is reserved: choose another name.`;
  throw invalidInput([{ pointer: '/username', detail }], detail);
}
