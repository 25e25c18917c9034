import type { DatabaseFile } from '../../../storage/database-file.ts';
import type { Config } from '../config.ts';

/** The result of a check: `failed` keeps a control plane from working; `warning` will do so later, or has a cost. */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'failed';
  /** The state and what to do about it, in one sentence. */
  readonly detail: string;
  /** True where it was put right just now. */
  readonly repaired?: true;
}

/** The results of all checks; `ok` is false where one of them keeps a control plane from working. */
export interface Diagnosis {
  readonly ok: boolean;
  readonly items: readonly (Finding & { readonly check: string })[];
}

/** The installation that is looked at. */
export interface Subject {
  readonly config: Config;
  /** The file of the database; undefined for one in memory, or on servers. */
  readonly file: DatabaseFile | undefined;
  /** True while a control plane runs in the directory. */
  readonly isRunning: boolean;
  /** The clock of this machine, ms. */
  readonly now: number;
}

/** Reads, and repairs only what nobody could miss. */
export type Check = (subject: Subject) => Promise<readonly Finding[]> | readonly Finding[];

export const ok = (detail: string): Finding => ({ state: 'ok', detail });
export const warning = (detail: string): Finding => ({ state: 'warning', detail });
export const failed = (detail: string): Finding => ({ state: 'failed', detail });
