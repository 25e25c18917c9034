import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { RecordDraft, StoredRecord } from '../base/record.ts';
import type { NetworkServices } from '../state/services.ts';

export const ACCOUNT_ROLES = ['user', 'platform_admin'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** Lower case, so that no two accounts look alike. */
export const USERNAME_PATTERN = /^[a-z0-9](?:[a-z0-9._@+-]{0,61}[a-z0-9])?$/;

export interface AccountSpec {
  readonly displayName: string;
  /** `platform_admin` holds everywhere; a `user` holds what its memberships say. */
  readonly role: AccountRole;
  /** argon2id, PHC string. */
  readonly passwordHash: string;
  /** `built-in`: the documented default, good from loopback only. `initial`: set by someone else. `own`: chosen. */
  readonly passwordState: 'built-in' | 'initial' | 'own';
  readonly disabled: boolean;
  /** Sessions and API tokens carry the epoch they were made in: raising it ends them all in one write. */
  readonly epoch: number;
  /** Uid of the account that takes over its agents, once it is disabled. */
  readonly successor?: string;
}

export type AccountRecord = StoredRecord<AccountSpec, Record<string, never>>;

/** A user name as accounts are stored under it. */
export function normalizeUsername(username: string): string {
  return username.trim().toLowerCase();
}

export async function findAccount({ store }: Pick<NetworkServices, 'store'>, username: string) {
  const name = normalizeUsername(username);
  if (!USERNAME_PATTERN.test(name)) return undefined;
  return (await store.get(SYSTEM_WORKSPACE, { kind: 'Account', name })) as AccountRecord | undefined;
}

export async function accountById({ store }: Pick<NetworkServices, 'store'>, uid: string) {
  return (await store.getById(SYSTEM_WORKSPACE, 'Account', uid)) as AccountRecord | undefined;
}

export function accountDraft(username: string, spec: AccountSpec): RecordDraft<AccountSpec> {
  return {
    kind: 'Account',
    name: normalizeUsername(username),
    uid: newId('u'),
    labels: {},
    annotations: {},
    spec,
    status: {},
    unique: [],
  };
}
