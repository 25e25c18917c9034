import { SYSTEM_WORKSPACE } from '../../../core/base/ids.ts';
import type { SecurityEvent } from '../../../core/base/ports.ts';
import type { WorkspaceRole } from '../../../core/base/scope.ts';
import { Secret } from '../../../core/base/secret.ts';
import { accountDraft, findAccount } from '../../../core/identity/accounts.ts';
import { ensureFirstAccounts } from '../../../core/identity/first-accounts.ts';
import { memberDraft } from '../../../core/identity/members.ts';
import { createSession } from '../../../core/identity/sessions.ts';
import { chooseFirstPassword } from './first-password.ts';
import { buildKit, type CallAs, type KitOptions } from './kit.ts';

export const START = Date.UTC(2026, 0, 15, 12);
export const LOOPBACK = '127.0.0.1';
export const ADMIN_PASSWORD = 'first-Admin-pass';
export const CONTEXT = { actor: 'system:test', reason: 'test', requestId: 'r_test' };

export interface IdentityKitOptions extends KitOptions {
  /** False leaves the first administrator with the built-in password. */
  readonly initAdmins?: boolean;
  /** Tells whether the first administrator has yet to change the password of `app.initAdmins`. */
  readonly isUnchanged?: boolean;
}

/** The kit with accounts, so that tests go the way a request goes: by bearer token. */
export async function buildIdentityKit({
  initAdmins = true,
  isUnchanged = !initAdmins,
  ...options
}: IdentityKitOptions = {}) {
  const base = await buildKit({ now: START, ...options });
  const { services } = base;
  const { store } = services;
  await ensureFirstAccounts(services, {
    initAdmins: initAdmins ? [{ username: 'admin', password: new Secret(ADMIN_PASSWORD) }] : [],
  });
  if (!isUnchanged) await chooseFirstPassword(services, ADMIN_PASSWORD);

  async function sessionOf(username: string): Promise<string> {
    const account = await findAccount(services, username);
    if (!account) throw new Error(`no account ${username}`);
    return (await createSession(services, account, CONTEXT)).token;
  }

  return {
    ...base,

    call<T = Record<string, unknown>>(
      operation: string | { readonly name: string },
      raw: Record<string, unknown>,
      options: CallAs = {},
    ): Promise<T> {
      return base.call(typeof operation === 'string' ? operation : operation.name, raw, options);
    },

    async login(username: string, password: string, origin = LOOPBACK, otp?: string): Promise<string> {
      const body = { username, password, ...(otp !== undefined && { otp }) };
      return (await base.call('log_in', body, { origin })).token;
    },

    /** Session of an account that was made with an initial password, and then chose this one. */
    async loginWithOwn(username: string, password: string): Promise<string> {
      await chooseFirstPassword(services, password, username);
      return this.login(username, password);
    },

    /** A fresh session of an account, without the cost of its password. */
    sessionOf,

    /** A fresh session of the first administrator. */
    admin: () => sessionOf('admin'),

    /** Session of a new account that no password opens, a member where a role is given. */
    async person(username: string, role?: WorkspaceRole, workspace?: string): Promise<string> {
      const spec = { displayName: '', passwordHash: '', passwordState: 'own', disabled: false, epoch: 1 } as const;
      const account = accountDraft(username, { ...spec, role: 'user' });
      await store.commit(SYSTEM_WORKSPACE, [{ op: 'create', record: account }], CONTEXT);
      if (role && workspace) {
        await store.commit(workspace, [{ op: 'create', record: memberDraft(account.name, role) }], CONTEXT);
      }
      return sessionOf(username);
    },

    /** Security events of a partition, oldest first. */
    async events(workspace = SYSTEM_WORKSPACE): Promise<readonly SecurityEvent[]> {
      const entries = await store.audit(workspace, { type: 'event', limit: 200 });
      return entries.toReversed().flatMap(({ event }) => event ?? []);
    },
  };
}

export type IdentityKit = Awaited<ReturnType<typeof buildIdentityKit>>;

// biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
type Ask = (name: string, raw?: Record<string, unknown>) => Promise<any>;

/** The kit with a workspace and sessions to call with: root administers the installation, ada the workspace, vic views it. */
export async function buildPeopleKit() {
  const kit = await buildIdentityKit();
  const workspace = await kit.workspace('prod');
  const askWith =
    (bearer: string): Ask =>
    (name, raw = {}) =>
      kit.call({ name }, raw, { bearer, workspace });
  return {
    ...kit,
    prod: workspace,
    askWith,
    root: askWith(await kit.admin()),
    ada: askWith(await kit.person('ada', 'admin', workspace)),
    vic: askWith(await kit.person('vic', 'viewer', workspace)),
  };
}
