import type { LogReport } from '../core/audit/findings.ts';
import type { DurableHeads, PublicLogKeys, StoredHead } from '../core/audit/log-keys.ts';
import type { Store } from '../core/base/ports.ts';

/** The type of the entry that says from when on a log goes on without what was signed of it before. */
export const ACCEPTED = 'audit.accepted';

/** The file of a database, and what commands of the host do with it. A control plane may run on it unless said otherwise. */
export interface DatabaseFile {
  readonly path: string;
  /** Another file of the same engine, such as a backup. */
  at(path: string): DatabaseFile;
  /** True if anything was ever written in it; it may not exist. @throws StoreError `unavailable` for a damaged file */
  hasEntries(): Promise<boolean>;
  /**
   * Looks at the logs in it. Nothing is written.
   *
   * @returns undefined where nothing was ever stored in it
   * @throws StoreError `unavailable` for a file that is damaged, or is none of a store
   */
  readLogs<T>(look: (logs: Logs) => Promise<T>): Promise<T | undefined>;
  /**
   * Why no control plane starts on it: it was moved, or is a copy that did not end. It may not exist.
   *
   * @throws StoreError `unavailable` of a file of a newer version, or of another program
   */
  whyNotInUse(): Promise<string | undefined>;
  /** Returns how the file is damaged, where an error says that it is. */
  damageIn(error: unknown): string | undefined;
  /** Reads every page and every record. @returns how it is damaged @throws Error where it cannot be read */
  fault(): Promise<string | undefined>;
  /** Returns a sentence for each program in it that is not as Mesh made it. @throws StoreError `unavailable` */
  programFaults(): Promise<readonly string[]>;
  /**
   * Recomputes its logs and holds every stored record and version against its digest.
   *
   * @param only the id of one workspace; all of them without
   * @throws StoreError `unavailable` for a file that cannot be read, or that no control plane of this version starts on
   */
  verify(only?: string): Promise<readonly LogReport[]>;
  /**
   * Has its logs signed on as they are, where what was signed before contradicts them: after a backup was restored, or keys
   * were made anew. Each such log gets an entry that says what was given up and why. Nothing else changes, and whoever kept
   * an earlier checkpoint finds the contradiction all the same. No control plane may run on it.
   *
   * @throws StoreError
   */
  accept(options: AcceptOptions): Promise<readonly AcceptedLog[]>;
  /**
   * Writes all of it into one file, as it is at one moment, and reads that back: each page is checked, and the logs hold what
   * the installation had signed. Writers are not held up.
   *
   * @throws StoreError `unavailable`; then nothing has taken the place of the file
   */
  backUp(options: BackupOptions): Promise<BackupResult>;
  /** A backup takes the place of an older one, and of nothing else that somebody may need. @throws StoreError `unavailable` */
  requireReplaceable(): Promise<void>;
  /** @throws StoreError `unavailable` for a file that is no whole database of a control plane */
  requireBackup(): Promise<void>;
  /** Returns the label of a backup; undefined of a copy that was made otherwise. */
  label(): Promise<BackupLabel | undefined>;
  /**
   * Puts a copy of a backup in its place, brought to the schema of this version. What was there is kept beside it. Killed
   * halfway, no database is there, which the next start tells; restore again then. No control plane may run on it.
   */
  restore(options: RestoreOptions): Promise<Restored>;
  /**
   * Rewrites it without the space that nothing uses. From then on free pages can be given back while it is in use, also where
   * an older version made the file. No control plane may run on it.
   *
   * @throws StoreError `unavailable`
   */
  rewrite(): Promise<{ readonly before: number; readonly after: number }>;
}

type Logs = Pick<Store, 'auditTree' | 'workspaces'>;

export interface AcceptOptions {
  readonly logs: PublicLogKeys;
  readonly heads: DurableHeads;
  readonly reason: string;
  readonly now: number;
}

export interface AcceptedLog {
  readonly workspace: string;
  /** Number of the entry that says so. */
  readonly entry: number;
  /** The signed contents that are given up, one sentence each. */
  readonly given: readonly string[];
}

export interface BackupOptions {
  /** Replaced where it is there, once the new one has been read back. */
  readonly to: string;
  readonly now: number;
  readonly installation: string;
  /** Log heads, read before: the database must contain them, and so must the backup. */
  readonly heads: readonly StoredHead[];
  /** The text of credentials.json, where it is to go along. */
  readonly credentials?: string;
}

/** The label of a backup, stored in the backup file itself. */
export interface BackupLabel {
  readonly at: number;
  readonly installation: string;
}

export interface BackupResult extends BackupLabel {
  readonly bytes: number;
  readonly entries: number;
}

export interface RestoreOptions {
  readonly from: string;
  readonly configDir: string;
  readonly now: number;
}

export interface Restored {
  /** Where what was there before is now. */
  readonly aside: string | undefined;
  /** True if credentials.json came with the backup. */
  readonly credentials: boolean;
}
