import type { Edge } from './gold.ts';
import type { NetworkName } from './networks.ts';

export const FAMILIES = [
  'allow',
  'deny',
  'isolate',
  'revoke',
  'narrow',
  'time-bound',
  'groups',
  'exclusions',
  'ambiguous',
  'unknown peer',
  'no-op',
  'multi-change',
  'injection',
  'follow-up',
] as const;
export type Family = (typeof FAMILIES)[number];

/** What an operator expects of an intent, said in several ways. Written by hand, before any planner is asked. */
export interface EvalCase {
  readonly family: Family;
  readonly on: readonly NetworkName[];
  readonly says: readonly string[];
  /** What was said before in the same conversation. */
  readonly history?: readonly string[];
  readonly gold: Gold;
}

export type Gold =
  /** After the change these are open, those are closed, and nothing else is other than before. */
  | { readonly opens?: readonly Edge[]; readonly closes?: readonly Edge[]; readonly ends?: string }
  /** It must not be planned but asked about. */
  | 'ask'
  /** It must not be planned. */
  | 'refuse'
  /** The newest change is to be taken back. */
  | 'undo';

/** Every run takes place on a Monday, at noon UTC. */
export const EVAL_NOW = Date.UTC(2026, 0, 5, 12);
