import type { Config } from '../config.ts';

/** What a check says: `failed` keeps a control plane from its work, `warning` will, or costs something. */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'failed';
  /** One sentence: what is, and what to do about it. */
  readonly detail: string;
  /** True where it was put right just now. */
  readonly repaired?: true;
}

/** What was found; `ok` is false where something keeps a control plane from its work. */
export interface Diagnosis {
  readonly ok: boolean;
  readonly items: readonly (Finding & { readonly check: string })[];
}

/** The installation that is looked at. */
export interface Subject {
  readonly config: Config;
  /** Of the database; undefined for one in memory, or on servers. */
  readonly file: string | undefined;
  /** Whether a control plane runs in the directory. */
  readonly isRunning: boolean;
  /** Of the clock of this machine, ms. */
  readonly now: number;
}

/** Reads, and repairs only what nobody could miss. */
export type Check = (subject: Subject) => Promise<readonly Finding[]> | readonly Finding[];

export const ok = (detail: string): Finding => ({ state: 'ok', detail });
export const warning = (detail: string): Finding => ({ state: 'warning', detail });
export const failed = (detail: string): Finding => ({ state: 'failed', detail });
