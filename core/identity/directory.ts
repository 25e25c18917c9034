import { MeshError } from '../base/errors.ts';
import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf, type RecordDraft } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import {
  type DirectoryGroup,
  type DirectoryUser,
  directoryKey,
  MAX_DIRECTORY_ENTRY,
  MAX_DIRECTORY_GROUPS,
  MAX_DIRECTORY_USERS,
} from '../model/directory.ts';
import { GROUPS_CLAIM, type IssuedIdentity, type IssuerRules, textClaim } from '../model/issuers.ts';
import { sameValue } from '../model/value.ts';
import type { NetworkServices, PeerServices } from '../state/services.ts';
import { type AccountRecord, accountById } from './accounts.ts';
import { groupWord, movesText } from './directory-words.ts';
import { issuedAccount } from './issuer-accounts.ts';
import { keepIssuedMemberships } from './issuer-grants.ts';
import { finishLeaving } from './leave.ts';
import { leavingOps } from './users.ts';

type Reads = Pick<NetworkServices, 'store'>;

/** A request of the directory of an issuer. */
export interface DirectoryCall {
  readonly services: PeerServices & Pick<NetworkServices, 'log'>;
  readonly rules: IssuerRules;
  readonly why: Omit<CommitContext, 'reason'>;
}

export type UserEntry = Pick<DirectoryUser['spec'], 'userName' | 'active' | 'attributes'> & {
  readonly externalId?: string | undefined;
};

export interface GroupEntry {
  readonly displayName: string;
  readonly externalId?: string | undefined;
  readonly attributes: DirectoryGroup['spec']['attributes'];
  /** Uids of people that come and go; whoever is not named stays. */
  readonly joins: readonly string[];
  readonly leaves: readonly string[];
}

export async function directoryUsers({ store }: Reads, { issuer }: Pick<IssuerRules, 'issuer'>) {
  const { items } = await store.list(SYSTEM_WORKSPACE, 'DirectoryUser');
  return items.filter(({ spec }) => spec.issuer === issuer);
}

export async function directoryGroups({ store }: Reads, { issuer }: Pick<IssuerRules, 'issuer'>) {
  const { items } = await store.list(SYSTEM_WORKSPACE, 'DirectoryGroup');
  return items.filter(({ spec }) => spec.issuer === issuer);
}

export async function directoryUser({ store }: Reads, { issuer }: Pick<IssuerRules, 'issuer'>, uid: string) {
  const found = await store.getById(SYSTEM_WORKSPACE, 'DirectoryUser', uid);
  return found?.spec.issuer === issuer ? found : undefined;
}

export async function directoryGroup({ store }: Reads, { issuer }: Pick<IssuerRules, 'issuer'>, uid: string) {
  const found = await store.getById(SYSTEM_WORKSPACE, 'DirectoryGroup', uid);
  return found?.spec.issuer === issuer ? found : undefined;
}

/** Returns the entry of a person whom an issuer vouches for. `account` finds it where this token does not name it. */
export async function entryOf(
  { store }: Reads,
  { issuer, directory }: IssuerRules,
  { subject, claims }: Pick<IssuedIdentity, 'subject' | 'claims'>,
  account: AccountRecord | undefined,
): Promise<DirectoryUser | undefined> {
  if (!directory) return undefined;
  const externalId = textClaim({ ...claims, sub: subject }, directory.claim);
  const keys = [
    ...(externalId === undefined ? [] : [directoryKey(issuer, 'externalId', externalId)]),
    ...(externalId === undefined && account ? [directoryKey(issuer, 'account', account.uid)] : []),
  ];
  for (const key of keys) {
    const found = await store.lookup(key, SYSTEM_WORKSPACE);
    if (found?.kind === 'DirectoryUser') return found;
  }
  return undefined;
}

/** Returns the claims of somebody with the groups of the directory in place of those of the token. */
export async function withGroups(
  { store }: Reads,
  { spec }: DirectoryUser,
  claims: IssuedIdentity['claims'],
): Promise<IssuedIdentity['claims']> {
  const groups = await Promise.all(spec.groups.map((uid) => store.getById(SYSTEM_WORKSPACE, 'DirectoryGroup', uid)));
  return { ...claims, [GROUPS_CLAIM]: groups.flatMap((group) => group?.spec.displayName ?? []) };
}

/**
 * Remembers with which account a person of a directory signs in, and enables it where they are back. Their account before it,
 * of which the directory tells no longer, is disabled.
 *
 * @returns the account as it is now; undefined where the person, or the right to it, has gone meanwhile
 * @throws MeshError `conflict` where the account before is that of the last platform administrator
 */
export async function linkAccount(
  services: DirectoryCall['services'],
  rules: IssuerRules,
  entry: DirectoryUser,
  { uid }: AccountRecord,
  why: CommitContext,
): Promise<AccountRecord | undefined> {
  const { store } = services;
  const { linked, former } = await serialized(store, SYSTEM_WORKSPACE, async () => {
    const [user, account] = [await directoryUser(services, rules, entry.uid), await accountById(services, uid)];
    const other = await store.lookup(directoryKey(rules.issuer, 'account', uid), SYSTEM_WORKSPACE);
    if (!user?.spec.active || !account || account.spec.leaving || (other && other.uid !== user.uid)) return {};
    const { disabledBy, ...spec } = account.spec;
    if (spec.disabled && disabledBy !== 'directory') return {};
    if (!spec.disabled && user.spec.account === uid) return { linked: account };
    const before = user.spec.account === undefined ? undefined : await accountById(services, user.spec.account);
    const former = before && before.uid !== uid ? before : undefined;
    const link = userDraft(draftOf(user), { ...user.spec, account: uid });
    const ops: Op[] = [
      { op: 'update', record: link, revision: user.revision },
      { op: 'update', record: { ...draftOf(account), spec: { ...spec, disabled: false } }, revision: account.revision },
      ...(former ? await leavingOps(former, services) : []),
    ];
    await store.commit(SYSTEM_WORKSPACE, ops, why);
    return { linked: await accountById(services, uid), former };
  });
  const left = former && (await accountById(services, former.uid));
  if (left?.spec.leaving) await finishLeaving(services, left, why);
  return linked;
}

/**
 * Writes a person of a directory, and disables the account of who is there no longer in the same commit.
 *
 * @returns uid of the entry, and the accounts that it concerns, for `followDirectory`
 * @throws MeshError `conflict`, `invalid_input`
 * @throws TakenInDirectory
 */
export async function saveDirectoryUser(
  call: DirectoryCall,
  known: DirectoryUser | undefined,
  entry: UserEntry,
): Promise<{ readonly uid: string; readonly accounts: readonly string[] }> {
  const { services, rules } = call;
  requireSmall(entry);
  if (!known && (await directoryUsers(services, rules)).length >= MAX_DIRECTORY_USERS) throw full('people');
  const { userName, externalId, active, attributes } = entry;
  const { account, groups = [] } = known?.spec ?? {};
  const isSame = known?.spec.externalId === externalId;
  const record = userDraft(known ? draftOf(known) : { ...emptyDraft, uid: newId('diru') }, {
    issuer: rules.issuer,
    userName,
    ...(externalId !== undefined && { externalId }),
    active,
    groups,
    ...(isSame && account !== undefined && { account }),
    attributes,
    changedAt: services.clock.now(),
  });
  const before = known && (await accountOf(call, known.spec));
  const after = await accountOf(call, record.spec);
  const gone = [...(before && before.uid !== after?.uid ? [before] : []), ...(after && !active ? [after] : [])];
  const leaving = await Promise.all(gone.map((one) => leavingOps(one, services)));
  const verb = active ? (known ? 'changed' : 'added') : 'deactivated';
  const blocked = externalId === undefined ? ', who has no externalId and cannot sign in' : '';
  await save(call, record, known, leaving.flat(), `${verb} ${(after ?? before)?.name ?? record.uid}${blocked}`);
  return { uid: record.uid, accounts: [...new Set([before, after].flatMap((one) => one?.uid ?? []))] };
}

export async function deleteDirectoryUser(call: DirectoryCall, user: DirectoryUser): Promise<readonly string[]> {
  const { kind, name, revision } = user;
  const account = await accountOf(call, user.spec);
  const leaving = account ? await leavingOps(account, call.services) : [];
  const remove: Op = { op: 'delete', key: { kind, name }, revision };
  await commit(call, [remove, ...leaving], `removed ${account?.name ?? user.uid}`);
  return account ? [account.uid] : [];
}

/**
 * @returns uid of the group, and the accounts that it concerns, for `followDirectory`
 * @throws MeshError `not_found`, `invalid_input`
 * @throws TakenInDirectory
 */
export async function saveDirectoryGroup(
  call: DirectoryCall,
  known: DirectoryGroup | undefined,
  { joins, leaves, ...entry }: GroupEntry,
): Promise<{ readonly uid: string; readonly accounts: readonly string[] }> {
  const { services, rules } = call;
  requireSmall(entry);
  if (!known && (await directoryGroups(services, rules)).length >= MAX_DIRECTORY_GROUPS) throw full('groups');
  const { displayName, externalId, attributes } = entry;
  const base = known ? draftOf(known) : { ...emptyDraft, kind: 'DirectoryGroup' as const, uid: newId('dirg') };
  const record: RecordDraft<'DirectoryGroup'> = {
    ...base,
    kind: 'DirectoryGroup',
    name: base.uid,
    spec: {
      issuer: rules.issuer,
      displayName,
      ...(externalId !== undefined && { externalId }),
      attributes,
      changedAt: services.clock.now(),
    },
    unique: [directoryKey(rules.issuer, 'displayName', displayName)],
  };
  const isRenamed = known !== undefined && known.spec.displayName !== displayName;
  const users = new Map((await directoryUsers(services, rules)).map((user) => [user.uid, user]));
  const stranger = joins.find((uid) => !users.has(uid));
  if (stranger !== undefined) throw await noMember(call, stranger);
  const moved = [
    ...joins.flatMap((uid) => moves(users.get(uid), (groups) => new Set([...groups, record.uid]))),
    ...leaves.flatMap((uid) => moves(users.get(uid), without(record.uid))),
  ];
  const isIn = (uid: string) => users.get(uid)?.spec.groups.includes(record.uid) === true;
  const come = await namesOf(
    call,
    users,
    joins.filter((uid) => !isIn(uid)),
  );
  const gone = await namesOf(call, users, leaves.filter(isIn));
  const word = groupWord(displayName);
  const done = isRenamed
    ? `renamed group ${groupWord(known.spec.displayName)} to ${word}`
    : `${known ? 'changed' : 'added'} group ${word}`;
  await save(call, record, known, moved, `${done}${movesText(come, gone)}`);
  const concerned = new Set([...joins, ...leaves]);
  const accounts = await accountsOf(call, users.values(), (user) =>
    isRenamed ? user.spec.groups.includes(record.uid) || concerned.has(user.uid) : concerned.has(user.uid),
  );
  return { uid: record.uid, accounts };
}

export async function deleteDirectoryGroup(call: DirectoryCall, group: DirectoryGroup): Promise<readonly string[]> {
  const { kind, name, revision, uid } = group;
  const members = (await directoryUsers(call.services, call.rules)).filter(({ spec }) => spec.groups.includes(uid));
  const moved = members.flatMap((user) => moves(user, without(uid)));
  const remove: Op = { op: 'delete', key: { kind, name }, revision };
  const left = await namesOf(
    call,
    new Map(members.map((user) => [user.uid, user])),
    members.map((user) => user.uid),
  );
  await commit(call, [remove, ...moved], `removed group ${groupWord(group.spec.displayName)}${movesText([], left)}`);
  return accountsOf(call, members, () => true);
}

/**
 * Carries out for accounts what their directory says by now: ends what those leave who are there no longer, and gives the
 * others what their groups give. Twice is no harm.
 */
export async function followDirectory(call: DirectoryCall, accounts: readonly string[]): Promise<void> {
  const { services, rules, why } = call;
  for (const uid of accounts) {
    const account = await accountById(services, uid);
    if (!account) continue;
    const context = { ...why, reason: `followed the directory of ${rules.title} for ${account.name}` };
    if (account.spec.leaving) {
      const reason = `followed the directory of ${rules.title}: ${account.name} left`;
      await finishLeaving(services, account, { ...why, reason });
    }
    if (account.spec.disabled || !account.spec.issued) continue;
    const user = await entryOf(services, rules, { subject: account.spec.issued.subject, claims: {} }, account);
    await keepMemberships(services, rules, { account, user, told: {} }, context);
  }
}

interface Membership {
  readonly account: AccountRecord;
  readonly user: DirectoryUser | undefined;
  /** Claims of the token, if there is one. */
  readonly told: IssuedIdentity['claims'];
}

/** In each round somebody else changed the groups of one person. */
const MAX_ROUNDS = 10;

/**
 * Gives an account what the groups of its person give, and once more where those have changed meanwhile: of two that do so at
 * once, on two control planes perhaps, whoever is last gives what is so.
 */
export async function keepMemberships(
  services: DirectoryCall['services'],
  rules: IssuerRules,
  { account, user, told }: Membership,
  context: CommitContext,
): Promise<void> {
  const claimsNow = async () => {
    const now = user && (await directoryUser(services, rules, user.uid));
    return now?.spec.active ? withGroups(services, now, told) : {};
  };
  let claims = await claimsNow();
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    await keepIssuedMemberships(services, account, rules, claims, context);
    await services.store.caughtUp([SYSTEM_WORKSPACE]);
    const now = await claimsNow();
    if (sameValue(now, claims)) return;
    claims = now;
  }
}

const emptyDraft = { kind: 'DirectoryUser', labels: {}, annotations: {}, status: {} } as const;

function userDraft(
  base: Omit<RecordDraft<'DirectoryUser'>, 'name' | 'spec' | 'unique'>,
  spec: DirectoryUser['spec'],
): RecordDraft<'DirectoryUser'> {
  const { issuer, userName, externalId, account } = spec;
  const unique = [
    directoryKey(issuer, 'userName', userName),
    ...(externalId === undefined ? [] : [directoryKey(issuer, 'externalId', externalId)]),
    ...(account === undefined ? [] : [directoryKey(issuer, 'account', account)]),
  ];
  return { ...base, name: base.uid, spec, unique };
}

function moves(user: DirectoryUser | undefined, change: (groups: readonly string[]) => ReadonlySet<string>): Op[] {
  if (!user) return [];
  const record = userDraft(draftOf(user), { ...user.spec, groups: [...change(user.spec.groups)] });
  return [{ op: 'update', record, revision: user.revision }];
}

function without(group: string): (groups: readonly string[]) => ReadonlySet<string> {
  return (groups) => new Set(groups.filter((one) => one !== group));
}

/** Where tokens name people by their subject, so does the directory, and people are known before they sign in. */
async function accountOf(
  { services, rules }: DirectoryCall,
  { account, externalId }: DirectoryUser['spec'],
): Promise<AccountRecord | undefined> {
  const linked = account === undefined ? undefined : await accountById(services, account);
  if (linked || externalId === undefined || rules.directory?.claim !== 'sub') return linked;
  return issuedAccount(services, { issuer: rules.issuer, subject: externalId });
}

/** The user names of people; of who has no account yet the id in the directory. */
async function namesOf(
  call: DirectoryCall,
  users: ReadonlyMap<string, DirectoryUser>,
  uids: readonly string[],
): Promise<readonly string[]> {
  const people = uids.flatMap((uid) => users.get(uid) ?? []);
  const names = await Promise.all(people.map(async ({ uid, spec }) => (await accountOf(call, spec))?.name ?? uid));
  return names.toSorted();
}

async function accountsOf(
  call: DirectoryCall,
  users: Iterable<DirectoryUser>,
  isConcerned: (user: DirectoryUser) => boolean,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const user of users) {
    const account = isConcerned(user) ? await accountOf(call, user.spec) : undefined;
    if (account) found.push(account.uid);
  }
  return found;
}

/** Somebody else of the directory, or another group, has this name or `externalId`. */
export class TakenInDirectory extends MeshError {
  constructor() {
    super('conflict', 'The directory has another one of this name or externalId.');
  }
}

/** Writes an entry with what goes with it; nothing where nothing changes, as issuers repeat themselves. */
async function save(
  call: DirectoryCall,
  record: RecordDraft<'DirectoryUser'> | RecordDraft<'DirectoryGroup'>,
  known: DirectoryUser | DirectoryGroup | undefined,
  more: readonly Op[],
  what: string,
): Promise<void> {
  // Told here, for a write that meets another one is tried again and again.
  for (const key of record.unique) {
    const found = await call.services.store.lookup(key, SYSTEM_WORKSPACE);
    if (found && found.uid !== record.uid) throw new TakenInDirectory();
  }
  const { changedAt } = record.spec;
  if (known && more.length === 0 && sameValue({ ...known.spec, changedAt }, record.spec)) return;
  const own: Op = known ? { op: 'update', record, revision: known.revision } : { op: 'create', record };
  await commit(call, [own, ...more], what);
}

async function commit({ services, rules, why }: DirectoryCall, ops: readonly Op[], what: string): Promise<void> {
  await services.store.commit(SYSTEM_WORKSPACE, ops, { ...why, reason: `the directory of ${rules.title} ${what}` });
}

async function noMember({ services, rules }: DirectoryCall, uid: string): Promise<MeshError> {
  if (!(await directoryGroup(services, rules, uid)))
    return new MeshError('not_found', `There is nobody ${uid} in this directory.`);
  const detail = `${uid} is a group, and members of a group are people: provision the people of that group as members.`;
  return new MeshError('invalid_input', detail);
}

/** @throws MeshError `invalid_input` */
function requireSmall(entry: object): void {
  if (Buffer.byteLength(JSON.stringify(entry)) <= MAX_DIRECTORY_ENTRY) return;
  throw new MeshError('invalid_input', `An entry of a directory has at most ${MAX_DIRECTORY_ENTRY} bytes.`);
}

function full(what: string): MeshError {
  return new MeshError('conflict', `This directory has as many ${what} as it may: remove some, or provision fewer.`);
}
