import type { Dropper } from './verdict.ts';

/** A rule of the host's own that drops what the network permits. */
export interface Blockage extends Dropper {
  /** As "TCP 5432" or "all". */
  readonly what: readonly string[];
}

/** What of the permitted the host's rules do is not known, and why. */
export interface NotJudged {
  readonly what: readonly string[];
  readonly why: string;
}

export interface Judgement {
  readonly blockages: readonly Blockage[];
  readonly notJudged: readonly NotJudged[];
}

/** "inet filter input (policy drop) drops TCP 5432". @param text of the rule, as nft lists it */
export function textOf({ table, chain, handle, what }: Blockage, text: string): string {
  const by = handle === null ? 'policy drop' : `rule handle ${handle}${text === '' ? '' : `: ${text}`}`;
  return `${table} ${chain} (${by}) drops ${what.join(', ')}`;
}

/** "not judged for TCP 22: inet filter input, rule handle 7: meta skuid". */
export function notJudgedText({ what, why }: NotJudged): string {
  return `not judged for ${what.join(', ')}: ${why}`;
}
