import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { NoStatus, RecordDraft, StoredRecord } from '../base/record.ts';
import type { Passkey } from '../model/passkeys.ts';
import type { NetworkServices } from '../state/services.ts';

export const ACCOUNT_ROLES = ['user', 'platform_admin'] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** Lower case, so that no two accounts look alike. */
export const USERNAME_PATTERN = /^[a-z0-9](?:[a-z0-9._@+-]{0,61}[a-z0-9])?$/;
export const USERNAME_RULE = 'must be 1 to 63 of a-z, 0-9 and "._@+-", and begin and end with a letter or digit';

export interface AccountSpec {
  readonly displayName: string;
  /** `platform_admin` holds everywhere; a `user` holds what its memberships say. */
  readonly role: AccountRole;
  /** argon2id, PHC string. */
  readonly passwordHash: string;
  /** `built-in`: the documented default, good on this machine only. `initial`: set by someone else. `own`: chosen. */
  readonly passwordState: 'built-in' | 'initial' | 'own';
  readonly disabled: boolean;
  /** Set where the directory of its issuer disabled it: it is enabled again when its person is back there and signs in. */
  readonly disabledBy?: 'directory';
  /** Sessions and API tokens carry the epoch they were made in: raising it ends them all in one write. */
  readonly epoch: number;
  /** Uid of the account that takes over its agents, once it is disabled. */
  readonly successor?: string;
  /** It was disabled, or is to be deleted, and what hangs on it has not all ended yet (core/identity/leave.ts). */
  readonly leaving?: PendingRemoval;
  /** Milliseconds; absent for a password that an older version stored. */
  readonly passwordChangedAt?: number;
  /** Hashes of passwords before the current one, newest first. */
  readonly formerPasswords?: readonly string[];
  /**
   * When it signed in with a password of its own, or chose one; renewed only where it became a member of a workspace since. Milliseconds, 0 for never; absent for
   * an account that an older version stored.
   */
  readonly signedInAt?: number;
  /** Networks that it signed in from, newest first: failed logins from elsewhere do not lock these out. */
  readonly knownSources?: readonly string[];
  readonly secondFactor?: SecondFactor;
  /** A second factor that is begun and not confirmed. */
  readonly enrolment?: OtpEnrolment;
  /** Subject of the issuer that signs the person in; the account has no password then. */
  readonly issued?: IssuedAccount;
  /** Sessions carry it: raising it ends those made before, and no API token. */
  readonly factorEpoch?: number;
  /** Grants to OAuth clients carry it: raising it ends those made before. */
  readonly grantEpoch?: number;
  /** When it signed out everywhere last, milliseconds: access tokens that another authorization server issued before do not count. */
  readonly signedOutAt?: number;
}

/** An account belongs to one subject of one issuer, whatever address the issuer names. */
export interface IssuedAccount {
  /** Identifier of the issuer. */
  readonly issuer: string;
  readonly subject: string;
  /** Verified, in lower case: accounts that ever shared one are one person where two have to decide. */
  readonly address: string;
  /** Addresses that it had before, newest first; absent for none. */
  readonly formerAddresses?: readonly string[];
}

export interface PendingRemoval {
  /** State of the account once everything else has ended. */
  readonly to: 'disabled' | 'deleted';
  /** When that was decided, milliseconds. */
  readonly since: number;
}

/** An authenticator app, passkeys, or both, and the recovery codes that replace them. */
export interface SecondFactor {
  /** Secret of the one-time codes, sealed by `sealSecret`; empty where there is no authenticator app. */
  readonly secret: string;
  /** Milliseconds. */
  readonly since: number;
  /** Time step of the newest code that was used: that code and earlier ones are no longer valid. */
  readonly lastStep: number;
  /** Hashes of recovery codes that were not used. */
  readonly recovery: readonly string[];
  /** Absent for none. Each signs in by itself, too. */
  readonly passkeys?: readonly Passkey[];
}

export interface OtpEnrolment {
  /** Sealed by `sealSecret`. */
  readonly secret: string;
  /** Uid of the session that began it: no other confirms it. */
  readonly session: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    Account: { spec: AccountSpec; status: NoStatus };
  }
}

export type AccountRecord = StoredRecord<'Account'>;

/** A user name as accounts are stored under it. */
export function normalizeUsername(username: string): string {
  return username.trim().toLowerCase();
}

export async function findAccount({ store }: Pick<NetworkServices, 'store'>, username: string) {
  const name = normalizeUsername(username);
  if (!USERNAME_PATTERN.test(name)) return undefined;
  return store.get(SYSTEM_WORKSPACE, { kind: 'Account', name });
}

export async function accountById({ store }: Pick<NetworkServices, 'store'>, uid: string) {
  return store.getById(SYSTEM_WORKSPACE, 'Account', uid);
}

/** @throws TypeError for a user name that breaks the pattern: nobody could find the account to end it. */
export function accountDraft(username: string, spec: AccountSpec): RecordDraft<'Account'> {
  const name = normalizeUsername(username);
  if (!USERNAME_PATTERN.test(name)) throw new TypeError('No account can have this user name.');
  return {
    kind: 'Account',
    name,
    uid: newId('u'),
    labels: {},
    annotations: {},
    spec,
    status: {},
    unique: [],
  };
}
