import type { FirewallRules } from '../../core/model/graph.ts';
import type { OwnAddress } from './own-address.ts';
import { permissionsAt } from './permissions.ts';
import { NEIGHBOURS, renderAddressRules, renderRenewal } from './render-address.ts';
import { renderDirection } from './render-direction.ts';

export interface RuleInput {
  readonly own: OwnAddress;
  readonly rules: FirewallRules;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long it lets anything through unless it is renewed. */
  readonly leaseMs: number;
  /** Packets that come in are marked for a guard (guard.ts). */
  readonly isGuarded?: boolean;
}

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
export function renderRules(interfaceName: string, { own, rules, now, leaseMs, isGuarded = false }: RuleInput): string {
  const overlay = JSON.stringify(interfaceName);
  const byPeer = renderDirection('in', permissionsAt(rules.in, now));
  const fromHere = renderDirection('out', permissionsAt(rules.out, now));
  const hooks = [
    renderHook('c_input', 'input', `iif != ${overlay}`, lookups(byPeer.lookups, fromHere.lookups)),
    renderHook('c_output', 'output', `oif != ${overlay}`, lookups(fromHere.lookups, byPeer.lookups)),
    renderHook('c_forward_in', 'forward', `iif != ${overlay}`, published('original')),
    renderHook('c_forward_out', 'forward', `oif != ${overlay}`, published('reply')),
  ];
  return `${removal(interfaceName)}table inet ${tableOf(interfaceName)} {
${byPeer.definitions}${fromHere.definitions}${OTHERS}chain published {
${byPeer.lookups.map((one) => `${one}\n`).join('')}${ERRORS}drop
}
${renderAddressRules(overlay, own, leaseMs, isGuarded)}${hooks.join('')}}
`;
}

/** Lets what is in force pass for `leaseMs` from now on. */
export function renewal(interfaceName: string, own: OwnAddress, leaseMs: number): string {
  return renderRenewal(tableOf(interfaceName), own, leaseMs);
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

/** Errors about a connection (unreachable, too big) come from either side. */
const ERRORS = 'ct state related meta l4proto { icmp, ipv6-icmp } accept\n';

/** Chain for everything that no entry permits. */
const OTHERS = `chain others {
${NEIGHBOURS}${ERRORS}drop
}
`;

/** By who opened the connection that a packet belongs to. An invalid packet belongs to none and has no direction. */
function lookups(originals: readonly string[], replies: readonly string[]): string {
  const of = (direction: string, all: readonly string[]) =>
    all.map((one) => `ct direction ${direction} ${one}\n`).join('');
  return `${of('original', originals)}${of('reply', replies)}goto others\n`;
}

/**
 * The host is no router of the overlay: only ports of this node that it publishes elsewhere, as to a container, are passed
 * on, and what answers there. Nothing behind it opens a connection to a peer.
 */
function published(direction: 'original' | 'reply'): string {
  return `ct status dnat ct direction ${direction} goto published\ndrop\n`;
}

function renderHook(name: string, hook: string, others: string, body: string): string {
  return `chain ${name} {\ntype filter hook ${hook} priority filter; policy accept;\n${others} accept\n${body}}\n`;
}
