import { createHash } from 'node:crypto';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type CommitContext, StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, accountById, accountDraft, findAccount, type IssuedAccount } from './accounts.ts';
import { usernameOf } from './issuer-names.ts';
import { requireFreeWord } from './users.ts';

type Reads = Pick<NetworkServices, 'store'>;

/** Addresses of one account, former ones included. */
export const MAX_ADDRESSES = 20;
const MAX_ALIKE = 99;
/** Each round somebody else wrote the account, or took the name, in between. */
const MAX_ROUNDS = 10;

/** Returns the account of a subject of an issuer, whatever its address is. */
export async function issuedAccount(
  { store }: Reads,
  { issuer, subject }: Pick<IssuedAccount, 'issuer' | 'subject'>,
): Promise<AccountRecord | undefined> {
  const found = await store.lookup(issuedKey({ issuer, subject }), SYSTEM_WORKSPACE);
  return found?.kind === 'Account' ? found : undefined;
}

/**
 * Returns an account with the address that its issuer tells now. It keeps those before, or two accounts of one person would be
 * two persons once one of them changes its address.
 *
 * @returns undefined where it had as many as an account may have
 */
export function withAddress(issued: IssuedAccount, address: string): IssuedAccount | undefined {
  if (issued.address === address) return issued;
  const former = [issued.address, ...(issued.formerAddresses ?? [])].filter((one) => one !== address);
  return former.length < MAX_ADDRESSES ? { ...issued, address, formerAddresses: former } : undefined;
}

/** Returns the account of a subject, made where there is none, with the address and name that the issuer tells now. */
export async function keepIssuedAccount(
  services: Reads,
  issued: Omit<IssuedAccount, 'formerAddresses'>,
  displayName: string,
  context: CommitContext,
): Promise<AccountRecord> {
  for (let round = 1; ; round += 1) {
    try {
      const known = await issuedAccount(services, issued);
      return known
        ? await renewed(services, known, issued, context)
        : await made(services, issued, displayName, context);
    } catch (error) {
      // The same person signs in elsewhere, or another one got the name.
      if (!(error instanceof StoreError) || (error.code !== 'already_exists' && error.code !== 'conflict')) throw error;
      if (round === MAX_ROUNDS)
        throw new MeshError('conflict', 'Your account is being changed elsewhere: sign in again.');
    }
  }
}

async function renewed(
  { store }: Reads,
  account: AccountRecord,
  told: IssuedAccount,
  context: CommitContext,
): Promise<AccountRecord> {
  const issued = withAddress(account.spec.issued ?? told, told.address);
  if (!issued) throw new MeshError('conflict', 'This account had too many addresses.');
  if (issued === account.spec.issued) return account;
  const record = { ...draftOf(account), spec: { ...account.spec, issued } };
  await store.commit(SYSTEM_WORKSPACE, [{ op: 'update', record, revision: account.revision }], context);
  return requireWritten({ store }, account.uid);
}

async function made(
  services: Reads,
  issued: IssuedAccount,
  displayName: string,
  context: CommitContext,
): Promise<AccountRecord> {
  const draft = accountDraft(await freeName(services, issued.address), {
    displayName,
    role: 'user',
    // No password has this hash.
    passwordHash: '',
    passwordState: 'own',
    disabled: false,
    epoch: 1,
    signedInAt: 0,
    issued,
  });
  const record = { ...draft, unique: [issuedKey(issued)] };
  await services.store.commit(SYSTEM_WORKSPACE, [{ op: 'create', record }], context);
  return requireWritten(services, draft.uid);
}

async function requireWritten(services: Reads, uid: string): Promise<AccountRecord> {
  const account = await accountById(services, uid);
  if (!account) throw new MeshError('unauthenticated', 'This account was removed.');
  return account;
}

/**
 * Returns a user name that neither an account nor a membership has: a membership is by name, and an address alone is to give
 * nobody one.
 */
async function freeName(services: Reads, address: string): Promise<string> {
  const base = usernameOf(address);
  for (let count = 1; count <= MAX_ALIKE; count += 1) {
    const name = count === 1 ? base : `${base}-${count}`;
    requireFreeWord(name);
    if (!(await isTaken(services, name))) return name;
  }
  throw new MeshError('conflict', `There are too many accounts named after ${address}: delete some of them.`);
}

async function isTaken(services: Reads, name: string): Promise<boolean> {
  if (await findAccount(services, name)) return true;
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Workspace');
  const members = await Promise.all(items.map(({ uid }) => services.store.get(uid, { kind: 'Member', name })));
  return members.some((member) => member !== undefined);
}

/** The `unique` value of the account of a subject. */
function issuedKey({ issuer, subject }: Pick<IssuedAccount, 'issuer' | 'subject'>): string {
  return `issued:${createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('base64url')}`;
}
