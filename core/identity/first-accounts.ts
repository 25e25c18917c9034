import { hkdfSync } from 'node:crypto';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type CommitContext, type Op, StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { equalSecrets, Secret } from '../base/secret.ts';
import type { Keyring } from '../model/services.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, type AccountSpec, accountDraft, findAccount, normalizeUsername } from './accounts.ts';
import { hashPassword } from './passwords.ts';

const ADMIN_USERNAME = 'admin';

/**
 * The password of `admin` where `app.initAdmins` is unset. It is public, so it is good for root and the user of the control
 * plane on its machine only, and for one thing: choosing another.
 */
export const BUILT_IN_PASSWORD = 'mesh-admin';

/** In the configuration directory of the control plane: the password of whoever the built-in one does not let in. */
export const FIRST_LOGIN_TOKEN_FILE = 'first-login-token';

/** The same for all control planes of an installation: it follows from a key in `credentials.json`. */
export function firstLoginToken({ controlPrivateKey }: Pick<Keyring, 'controlPrivateKey'>): Secret {
  const key = Buffer.from(controlPrivateKey.reveal(), 'base64');
  return new Secret(Buffer.from(hkdfSync('sha256', key, '', 'mesh first login', 32)).toString('base64url'));
}

/** Tells whether a password is the token of the first login, and the account has yet to choose its own. */
export function isFirstLogin(
  { spec }: AccountRecord,
  password: string,
  keys: Pick<Keyring, 'controlPrivateKey'>,
): boolean {
  return spec.passwordState === 'built-in' && equalSecrets(password, firstLoginToken(keys).reveal());
}

/** `app.initAdmins` of the configuration. */
export interface InitialAdmin {
  readonly username: string;
  readonly password: Secret;
}

/**
 * Makes the first accounts where there are none (docs/accounts-and-tokens.md#first-start), and gives `admin` its configured password
 * where it still has the built-in one. Accounts that have a password of their own are never touched.
 *
 * @returns whether any was made or given one here: of several control planes that start at once, by one
 */
export async function ensureFirstAccounts(
  services: Pick<NetworkServices, 'store' | 'log'>,
  { initAdmins }: { readonly initAdmins: readonly InitialAdmin[] },
): Promise<boolean> {
  const { store, log } = services;
  const { items } = await store.list(SYSTEM_WORKSPACE, 'Account', { limit: 1 });
  const ops = items.length === 0 ? await firstAccounts(initAdmins) : await replaceBuiltIn(services, initAdmins);
  if (ops.length === 0) return false;
  const context: CommitContext = { actor: 'system:first-start', reason: 'first start', requestId: 'first-start' };
  try {
    await store.commit(SYSTEM_WORKSPACE, ops, context);
  } catch (error) {
    // Another control plane on the same store was first.
    if (!(error instanceof StoreError && (error.code === 'already_exists' || error.code === 'conflict'))) throw error;
    return false;
  }
  log.info({ accounts: ops.map((op) => ('record' in op ? op.record.name : '')) }, 'initial accounts are ready');
  return true;
}

/** Returns true if an account that may sign in still has the public default password. */
export async function hasBuiltInPassword({ store }: Pick<NetworkServices, 'store'>): Promise<boolean> {
  const { items } = await store.list(SYSTEM_WORKSPACE, 'Account');
  return items.some(({ spec }) => spec.passwordState === 'built-in' && !spec.disabled);
}

async function firstAccounts(initAdmins: readonly InitialAdmin[]): Promise<Op[]> {
  if (initAdmins.length === 0) {
    const passwordHash = await hashPassword(BUILT_IN_PASSWORD);
    return [{ op: 'create', record: accountDraft(ADMIN_USERNAME, adminSpec(passwordHash, 'built-in')) }];
  }
  const unique = new Map(initAdmins.map((admin) => [normalizeUsername(admin.username), admin.password]));
  const ops: Op[] = [];
  for (const [username, password] of unique) {
    ops.push({ op: 'create', record: accountDraft(username, await initialSpec(password)) });
  }
  return ops;
}

async function replaceBuiltIn(
  services: Pick<NetworkServices, 'store'>,
  initAdmins: readonly InitialAdmin[],
): Promise<Op[]> {
  const configured = initAdmins.find(({ username }) => normalizeUsername(username) === ADMIN_USERNAME);
  const admin = await findAccount(services, ADMIN_USERNAME);
  if (!configured || admin?.spec.passwordState !== 'built-in') return [];
  const { passwordHash, passwordState } = await initialSpec(configured.password);
  if (passwordState === 'built-in') return [];
  const spec: AccountSpec = { ...admin.spec, passwordHash, passwordState, epoch: admin.spec.epoch + 1 };
  return [{ op: 'update', record: { ...draftOf(admin), spec }, revision: admin.revision }];
}

/** Returns the spec of the first account. An operator who configures the public default has not chosen a password. */
async function initialSpec(password: Secret): Promise<AccountSpec> {
  const text = password.reveal();
  return adminSpec(await hashPassword(text), equalSecrets(text, BUILT_IN_PASSWORD) ? 'built-in' : 'initial');
}

function adminSpec(passwordHash: string, passwordState: AccountSpec['passwordState']): AccountSpec {
  const account = { displayName: '', role: 'platform_admin', disabled: false, epoch: 1, signedInAt: 0 } as const;
  return { ...account, passwordHash, passwordState };
}
