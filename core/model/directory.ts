import { createHash } from 'node:crypto';
import type { NoStatus, StoredRecord } from '../base/record.ts';

/** People and groups of one directory. */
export const MAX_DIRECTORY_USERS = 10_000;
export const MAX_DIRECTORY_GROUPS = 1_000;
/** Bytes of what a directory tells of one person or group, members apart. */
export const MAX_DIRECTORY_ENTRY = 16_384;

/** A person as the directory of an issuer tells of them (RFC 7643, section 4.1). */
interface DirectoryUserSpec {
  /** Identifier of the issuer. */
  readonly issuer: string;
  readonly userName: string;
  /** How the issuer names them to other systems: what the claim of the configuration is in their tokens. */
  readonly externalId?: string;
  /** False for who has left. */
  readonly active: boolean;
  /** Uids of the groups that they are in. */
  readonly groups: readonly string[];
  /** Uid of the account with which they signed in last; absent for who never did. */
  readonly account?: string;
  /** Whatever the directory wrote, which is given back to it. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Milliseconds. */
  readonly changedAt: number;
}

interface DirectoryGroupSpec {
  readonly issuer: string;
  readonly displayName: string;
  readonly externalId?: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Milliseconds. */
  readonly changedAt: number;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    DirectoryUser: { spec: DirectoryUserSpec; status: NoStatus };
    DirectoryGroup: { spec: DirectoryGroupSpec; status: NoStatus };
  }
}

export type DirectoryUser = StoredRecord<'DirectoryUser'>;
export type DirectoryGroup = StoredRecord<'DirectoryGroup'>;

/** What is unique within the directory of an issuer. */
type DirectoryName = 'userName' | 'externalId' | 'account' | 'displayName';

/** Returns the `unique` value of a name; `externalId` is that of a person. */
export function directoryKey(issuer: string, by: DirectoryName, value: string): string {
  // RFC 7643 has names compared without regard to case.
  const folded = by === 'userName' || by === 'displayName' ? value.toLowerCase() : value;
  const digest = createHash('sha256')
    .update(JSON.stringify([issuer, by, folded]))
    .digest('base64url');
  return `directory:${digest}`;
}
