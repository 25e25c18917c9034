import type { FirewallEntry, FirewallRules } from '../../../core/model/graph.ts';
import type { OwnAddress } from '../own-address.ts';
import type { Newcomer } from './matches.ts';
import type { Chain } from './ruleset.ts';
import { type Dropper, dropperOf } from './verdict.ts';

/** Rules of the host's own that drop what the network permits. */
export interface Blockage extends Dropper {
  /** As "TCP 5432" or "all". */
  readonly what: readonly string[];
}

/** Kinds of connections that are looked at: more would tell no more. */
const MOST_KINDS = 32;
/** Of a connection that may be any: no service is usually found there. */
const ANY_PORT = 49_321;

/** What of the permitted is dropped by chains other than those of nodes, by whom. Pure. */
export function blockagesOf(
  chains: readonly Chain[],
  interfaceName: string,
  own: OwnAddress,
  { in: permitted }: FirewallRules,
): readonly Blockage[] {
  const others = chains.filter(({ table }) => !/^inet mesh_/.test(table));
  const kinds = new Map(permitted.map((entry) => [nameOf(entry), entry]));
  const found = new Map<string, Blockage>();
  for (const [what, entry] of [...kinds].slice(0, MOST_KINDS)) {
    const by = dropperOf(others, newcomerOf(entry, interfaceName, own));
    if (!by) continue;
    const key = `${by.table} ${by.chain} ${by.rule?.handle}`;
    found.set(key, { ...by, what: [...(found.get(key)?.what ?? []), what] });
  }
  return [...found.values()];
}

/** "inet filter input (policy drop) drops TCP 5432". */
export function textOf({ table, chain, rule, what }: Blockage): string {
  const by = rule ? `rule handle ${rule.handle}: ${rule.text}` : 'policy drop';
  return `${table} ${chain} (${by}) drops ${what.join(', ')}`;
}

function nameOf({ protocol, from, to }: FirewallEntry): string {
  if (protocol === 'ALL') return 'all';
  return from === undefined ? protocol : `${protocol} ${from}${to === undefined || to === from ? '' : `-${to}`}`;
}

function newcomerOf({ cidr, protocol, from }: FirewallEntry, interfaceName: string, own: OwnAddress): Newcomer {
  const port = protocol === 'ICMP' ? 0 : (from ?? ANY_PORT);
  return { interfaceName, from: cidr, to: own.address, protocol: protocol === 'ALL' ? 'TCP' : protocol, port };
}
