import type { FirewallRules } from '../../core/network/graph.ts';
import { permissionsAt } from './permissions.ts';
import { renderWay } from './render-way.ts';

/**
 * The rules of one overlay interface as one nftables transaction that replaces those before it.
 *
 * Every packet is looked up by the connection it belongs to, in either direction, so a rule that goes cuts what was
 * opened under it, at once and both ways. A connection that a peer opened is named by what the peer sees (`ct original`),
 * one that was opened here by what is really reached (`ct reply`): translation of addresses on this host changes neither.
 *
 * Each hook has its lookups in its own chain: a jump costs a packet as much as a comparison. The interface is compared by
 * its index, which costs far less than its name; it must exist, and one of the same name made later is another.
 */
export function renderRules(interfaceName: string, rules: FirewallRules, now: number): string {
  const overlay = JSON.stringify(interfaceName);
  const byPeer = renderWay('in', permissionsAt(rules.in, now));
  const fromHere = renderWay('out', permissionsAt(rules.out, now));
  const comes = `iif != ${overlay} accept\n${lookups(byPeer.lookups, fromHere.lookups)}`;
  const leaves = `oif != ${overlay} accept\n${lookups(fromHere.lookups, byPeer.lookups)}`;
  return `${removal(interfaceName)}table inet ${tableOf(interfaceName)} {
${byPeer.definitions}${fromHere.definitions}${OTHERS}${renderHook('c_input', 'input', comes)}${renderHook('c_output', 'output', leaves)}${renderHook('c_forward_in', 'forward', comes)}${renderHook('c_forward_out', 'forward', leaves)}}
`;
}

/** A transaction after which the interface has no rules, whether it had some or not. */
export function removal(interfaceName: string): string {
  const table = tableOf(interfaceName);
  return `add table inet ${table}\ndelete table inet ${table}\n`;
}

export function tableOf(interfaceName: string): string {
  if (!/^[A-Za-z0-9_.-]{1,15}$/.test(interfaceName)) throw new Error(`${interfaceName} is no name of an interface.`);
  return `mesh_${interfaceName}`;
}

/** What no entry permits. Neighbour discovery is no connection; errors about one (unreachable, too big) come from either side. */
const OTHERS = `chain others {
icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
ct state related meta l4proto { icmp, ipv6-icmp } accept
drop
}
`;

/** By who opened the connection that a packet belongs to. An invalid packet belongs to none and has no direction. */
function lookups(originals: readonly string[], replies: readonly string[]): string {
  const of = (direction: string, all: readonly string[]) =>
    all.map((one) => `ct direction ${direction} ${one}\n`).join('');
  return `${of('original', originals)}${of('reply', replies)}goto others\n`;
}

/** Accepting ends this chain alone: what passes through the overlay both ways is judged by both chains of `forward`. */
function renderHook(name: string, hook: string, body: string): string {
  return `chain ${name} {\ntype filter hook ${hook} priority filter; policy accept;\n${body}}\n`;
}
