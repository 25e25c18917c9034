import { setImmediate as pause } from 'node:timers/promises';
import type { FirewallEntry, FirewallRules } from '../../../core/model/graph.ts';
import type { OwnAddress } from '../own-address.ts';
import type { Newcomer } from './matches.ts';
import type { Ruleset } from './ruleset.ts';
import { type Dropper, fateOf } from './verdict.ts';

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

/** Kinds of connections that are looked at: more would tell no more. */
const MOST_KINDS = 32;
/** Of a connection that may be any: no service is usually found there. */
const ANY_PORT = 49_321;
/** What a permission of everything is looked at as. */
const EACH = ['TCP', 'UDP', 'ICMP'] as const;

/** What of the permitted is dropped by chains other than those of nodes, by whom. Others have their turn between two kinds of it. */
export async function judgementOf(
  ruleset: Ruleset,
  interfaceName: string,
  own: OwnAddress,
  { in: permitted }: FirewallRules,
): Promise<Judgement> {
  const kinds = new Map(permitted.flatMap(kindsOf));
  const blockages = new Map<string, Blockage>();
  const notJudged = new Map<string, NotJudged>();
  const all = permitted.some(({ protocol }) => protocol === 'ALL');
  for (const [what, kind] of [...kinds].slice(0, MOST_KINDS)) {
    const fate = fateOf(ruleset, newcomerOf(kind, interfaceName, own));
    if (fate.is === 'dropped') {
      const { is: _, ...by } = fate;
      const key = `${by.table} ${by.chain} ${by.handle}`;
      blockages.set(key, { ...by, what: [...(blockages.get(key)?.what ?? []), what] });
    } else if (fate.is === 'unknown') {
      const { why } = fate;
      notJudged.set(why, { why, what: [...(notJudged.get(why)?.what ?? []), what] });
    }
    await pause();
  }
  if (kinds.size > MOST_KINDS) {
    const why = `${MOST_KINDS} kinds of connections are looked at`;
    notJudged.set(why, { why, what: [`${kinds.size - MOST_KINDS} more`] });
  }
  const named = <T extends { readonly what: readonly string[] }>(one: T): T =>
    all ? { ...one, what: together(one.what) } : one;
  return { blockages: [...blockages.values()].map(named), notJudged: [...notJudged.values()].map(named) };
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

function kindsOf(entry: FirewallEntry): [string, FirewallEntry][] {
  const { protocol, from, to } = entry;
  if (protocol === 'ALL') return EACH.map((one) => [one, { ...entry, protocol: one }]);
  return [
    [from === undefined ? protocol : `${protocol} ${from}${to === undefined || to === from ? '' : `-${to}`}`, entry],
  ];
}

/** "all" in place of each of its parts. */
function together(what: readonly string[]): readonly string[] {
  if (!EACH.every((one) => what.includes(one))) return what;
  return ['all', ...what.filter((one) => !EACH.some((part) => part === one))];
}

function newcomerOf({ cidr, protocol, from }: FirewallEntry, interfaceName: string, own: OwnAddress): Newcomer {
  const port = protocol === 'ICMP' ? 0 : (from ?? ANY_PORT);
  return { interfaceName, from: cidr, to: own.address, protocol: protocol === 'ALL' ? 'TCP' : protocol, port };
}
